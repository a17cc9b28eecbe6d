"""Task table of the board games."""

from envpool.tasks.entries import table

register = table(__name__)

register("ConnectFour-v0", "envpool.board_games.connect_four", env="ConnectFour")
