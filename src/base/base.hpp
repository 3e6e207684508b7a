// The ground floor: errors with a cure, and quantities with a unit.
//
// Every other room may include this door; it includes none of theirs. It knows C++ and errno,
// and must not know what an I/O is.
#pragma once

#include "base/error.hpp"
#include "base/units.hpp"
#include "base/words.hpp"
