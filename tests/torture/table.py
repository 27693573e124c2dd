"""The promises, in the order in which they are tested. Each is a file of this folder."""

MODULES = (
    "one_winner",
    "no_wrong_answer",
    "slow_clients",
    "over_capacity",
    "stop_start",
    "fails_closed",
    "keeps_secrets",
    "acknowledged_stays",
    "lost_node",
    "uploads_survive",
    "hostile_bytes",
    "no_user_enumeration",
    "hashing_no_weapon",
    "slow_guessing",
    "no_way_out",
    "files_change",
    "one_tag",
)
