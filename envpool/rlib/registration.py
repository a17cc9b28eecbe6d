"""Task table of the rlib family."""

from envpool.tasks.entries import table

register = table(__name__)

FAMILY = "envpool.rlib"

register("ApplePicker-v0", f"{FAMILY}.apple_picker", env="ApplePicker")
register("ApplePickerDeterministic-v0", f"{FAMILY}.apple_picker", env="ApplePicker", is_deterministic=True)
