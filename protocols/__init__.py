"""Protocols, one file each. The registry maps a name to where its record is defined."""

REGISTRY = {
    "unordered": "protocols.unordered:UNORDERED",
    "fifo": "protocols.fifo:FIFO",
    "mfss": "protocols.mfss:MFSS",
    "cykas": "protocols.cykas:CYKAS",
    "cykas-as-printed": "protocols.cykas_as_printed:CYKAS_AS_PRINTED",
    "cykas-secret-mode": "protocols.cykas_secret_mode:CYKAS_SECRET_MODE",
}
