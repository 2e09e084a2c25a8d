"""A daily e-mail brief at each reader's own local hour, in English and 中文."""

import zoneinfo

# Rules come from the pinned `tzdata` package alone: zoneinfo would prefer the operating system's copy, which is
# often a year old and then sends an hour early or late in every country that changed its clocks meanwhile.
zoneinfo.reset_tzpath(to=[])
