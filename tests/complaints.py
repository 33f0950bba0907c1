"""What every table of bad input asks: the very error, in the very words."""

import pytest


def assert_complains(call, kind, message):
    """Require that a call raises an error of this kind, and of no other, with this message."""
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind
    assert str(caught.value) == message
