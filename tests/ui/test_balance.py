"""The shares of classes over a table are told in time that grows with the classes, not with their square."""

from touchstone.ui.data.upload import balance


class Counted(list[int]):
    """Numbers that count how often somebody goes through them."""

    n_walks = 0

    def __iter__(self):
        self.n_walks += 1
        return super().__iter__()


def test_classes_are_gone_through_as_often_however_many_there_are():
    few, many = Counted([1, 3]), Counted([1] * 500)
    assert balance(["no", "yes"], few) == "“yes” 75.0 %, “no” 25.0 %"
    balance([f"class {n}" for n in range(500)], many)
    assert many.n_walks == few.n_walks
