"""Keys of KMS."""

from typing import Any

from tests.policies.cases.aws_data import KEPT, TRIAL, UNSURE
from tests.policies.objects import UNKNOWN, Breaks, Passes, Resource, Unknowns


def key(**inputs: Any) -> Resource:
    return Resource("aws:kms/key:Key", inputs, "key", protect=True)


BREAKS: Breaks = {
    "key-rotation": [
        (key(), "enableKeyRotation: is not true"),
        (key(enableKeyRotation=False, keyUsage="ENCRYPT_DECRYPT"), "enableKeyRotation: is not true"),
    ],
    "key-deletion": [
        (key(deletionWindowInDays=7), "deletionWindowInDays: is 7, at least 30"),
        ([KEPT, key(deletionWindowInDays=29)], "deletionWindowInDays: is 29, at least 30"),
    ],
}

PASSES: Passes = {
    "key-rotation": [
        key(enableKeyRotation=True),
        key(keyUsage="SIGN_VERIFY", customerMasterKeySpec="RSA_4096"),
        key(customKeyStoreId="cks-1"),
    ],
    "key-deletion": [[KEPT, key(deletionWindowInDays=30)], key(), [TRIAL, key(deletionWindowInDays=7)]],
}

UNKNOWNS: Unknowns = {
    "key-rotation": [(key(enableKeyRotation=UNKNOWN), "enableKeyRotation"), (key(keyUsage=UNKNOWN), "keyUsage")],
    "key-deletion": [
        (key(deletionWindowInDays=UNKNOWN), "deletionWindowInDays"),
        (key(deletionWindowInDays="a month"), "deletionWindowInDays"),
        ([UNSURE, key(deletionWindowInDays=7)], "environment.data", ""),
    ],
}
