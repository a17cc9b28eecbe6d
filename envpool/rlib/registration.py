"""Task table of the rlib family."""

from envpool.registration import register

FAMILY = "envpool.rlib"

register("ApplePicker-v0", f"{FAMILY}.apple_picker", env="ApplePicker")
register("ApplePickerDeterministic-v0", f"{FAMILY}.apple_picker", env="ApplePicker", is_deterministic=True)
