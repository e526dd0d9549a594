"""The widgets of a page, set as a hand sets them."""

from typing import Any


def widget(page: Any, label: str) -> Any:
    """The widget of this label."""
    found = page.server.viser.gui._gui_input_handle_from_uuid.values()
    return next(handle for handle in found if getattr(handle, "label", None) == label)


def by_hand(page: Any, label: str, value: Any) -> None:
    """Set a widget as a window does, and call what waits for that."""
    handle = widget(page, label)
    handle._impl.value = value
    import viser

    for told in handle._impl.update_cb:
        told(viser.GuiEvent(object(), 0, handle))
