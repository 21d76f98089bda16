"""The page in a real browser: typing, choosing, errors, links, narrow windows; what is typed is never run."""

import shutil
import threading

import pytest

from weft.playground.presets import PRESETS

pytest.importorskip("flask", reason="the server needs Flask, of the extra web")
webdriver = pytest.importorskip("selenium.webdriver", reason="the browser is driven by Selenium, of the extra test")

BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chrome")
DRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.compiles_alone,
    pytest.mark.skipif(
        not (BROWSER and DRIVER),
        reason="there is no Chromium with its driver: apt-get install chromium chromium-driver",
    ),
]
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="module")
def url(app):
    from werkzeug.serving import make_server

    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield found
    found.quit()


@pytest.fixture
def page(browser, url):
    """A driver whose page is open, and whose console must have no error in the end."""
    browser.set_window_size(1400, 900)
    browser.get(url)
    yield browser
    wrong = [entry["message"] for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    assert not wrong


def until(page, script, *arguments):
    """Wait until an expression of JavaScript is true."""
    from selenium.webdriver.support.wait import WebDriverWait

    return WebDriverWait(page, 60).until(lambda page: page.execute_script(f"return {script}", *arguments))


def typed(page, field, text):
    """Type a text into a field, in place of its contents, and wait for the answer."""
    from selenium.webdriver.common.keys import Keys

    element = page.find_element("id", field)
    element.send_keys(Keys.CONTROL, "a")
    element.send_keys(Keys.DELETE, text)
    until(page, "location.search === '?' + new URLSearchParams([...new FormData(document.forms[0])].filter(x => x[1]))")
    until(page, "!document.getElementById('results').hasAttribute('aria-busy')")


def text_of(page, name):
    return page.execute_script("return document.getElementById(arguments[0]).textContent", name)


def test_the_stages_follow_what_is_typed(page):
    assert "A(i,j)*x(j)" in text_of(page, "text-concrete-notation")
    typed(page, "expression", "C(i,j) = A(i,j) + B(j,i)")
    assert "B(j,i)" in text_of(page, "text-concrete-notation")
    names = page.execute_script("return [...document.querySelectorAll('select')].map(x => x.name)")
    assert names == ["format.A", "format.B", "format.C"]
    assert "weft_evaluate" in text_of(page, "text-c")
    assert page.title == "C(i,j) = A(i,j) + B(j,i) · weft playground"
    assert '"C(i,j) = A(i,j) + B(j,i)",' in text_of(page, "text-python")
    assert text_of(page, "text-command").startswith('weft "C(i,j) = A(i,j) + B(j,i)"')


def test_what_buttons_copy(page):
    page.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
    for key in ("python", "command"):
        page.find_element("css selector", f"header [data-copies=text-{key}]").click()
        until(page, "document.querySelector('header').textContent.includes('Copied')")
        copied = page.execute_async_script("navigator.clipboard.readText().then(arguments[0])")
        assert copied == text_of(page, f"text-{key}")
        until(page, "!document.querySelector('header').textContent.includes('Copied')")


def test_the_field_grows_with_the_expression(page):
    height = "document.getElementById('expression').clientHeight"
    before = page.execute_script(f"return {height}")
    assert before > 60
    typed(page, "expression", "y(i) = " + " + ".join(f"A(i,j)*x(j)/{n}" for n in range(1, 18)))
    assert page.execute_script(f"return {height}") > 2 * before
    assert page.execute_script(f"return {height} >= document.getElementById('expression').scrollHeight - 1")


@pytest.mark.parametrize(("width", "beside"), [(1280, True), (400, False)])
def test_loops_stand_beside_the_c_where_there_is_room(page, width, beside):
    page.set_window_size(width, 900)
    one, other = (page.find_element("id", f"stage-{key}").rect for key in ("concrete-notation", "c"))
    assert (one["y"] == other["y"]) == beside
    assert other["x"] > one["x"] + one["width"] if beside else other["y"] > one["y"] + one["height"]


def test_the_stages_follow_the_chosen_format(page):
    from selenium.webdriver.support.select import Select

    Select(page.find_element("id", "format-A")).select_by_visible_text("dia")
    until(page, "document.getElementById('text-report').textContent.includes('A dia')")
    assert page.execute_script("return document.activeElement.id") in ("format-A", "")
    drawn = page.execute_script(
        "return [...document.querySelectorAll('figure img')].map(x => [x.complete, x.naturalWidth, x.alt])"
    )
    assert len(drawn) >= 4
    assert all(complete and width > 50 and alt for complete, width, alt in drawn)


def test_an_error_is_shown_with_its_caret_and_goes_away(page):
    typed(page, "expression", "y(i = A(i,j)*x(j)")
    until(page, "!document.getElementById('trouble-expression').hidden")
    reason, place = page.find_elements("css selector", "#trouble-expression > *")
    assert "expected" in reason.text
    assert page.execute_script("return arguments[0].textContent", place) == "  y(i = A(i,j)*x(j)\n      ^"
    assert page.find_element("id", "expression").get_attribute("aria-invalid") == "true"
    # The formats that were chosen, and the last stages, stay.
    assert page.find_element("id", "format-A").get_property("value") == "csr"
    typed(page, "expression", "y(i) = A(i,j)*x(j)")
    until(page, "document.getElementById('trouble-expression').hidden")


def test_a_link_with_an_error_shows_the_example_until_the_error_is_gone(page, url):
    page.get(f"{url}?expression=y(i+=+A(i,j)*x(j)&format.A=dia")
    assert "expected" in page.find_element("id", "trouble-expression").text
    assert "A(i,j)*x(j)" in text_of(page, "text-concrete-notation")
    assert "stale" in page.find_element("id", "results").get_attribute("class")
    typed(page, "expression", "y(i) = 3*A(i,j)*x(j)")
    until(page, "!document.getElementById('results').classList.contains('stale')")
    assert "A dia" in text_of(page, "text-report")
    assert "The first example" not in text_of(page, "results")


def test_a_schedule_by_hand(page):
    typed(page, "expression", "C(i,k) = A(i,j)*B(j,k)")
    typed(page, "schedule", "split(k, k0, k1, 16)")
    until(page, "document.getElementById('text-schedule').textContent.includes('scheduled by hand')")
    typed(page, "schedule", "reorder(j, i, k)")
    until(page, "!document.getElementById('trouble-schedule').hidden")


def test_a_link_keeps_the_state(page):
    typed(page, "expression", "y(i) = A(i,j)*x(j) + b(i)")
    typed(page, "schedule", "parallelize(i)")
    before = {name: text_of(page, name) for name in ("text-report", "text-c")}
    page.get(page.current_url)
    assert page.find_element("id", "expression").get_property("value") == "y(i) = A(i,j)*x(j) + b(i)"
    assert page.find_element("id", "schedule").get_property("value") == "parallelize(i)"
    assert {name: text_of(page, name) for name in before} == before


def test_what_is_typed_is_not_run(page):
    for hostile in (
        "<img src=x onerror=window.ran=1>",
        "</pre><script>window.ran=1</script>",
        "javascript:window.ran=1",
    ):
        for field in ("expression", "schedule"):
            typed(page, field, hostile)
            until(page, "[...document.querySelectorAll('.trouble')].some(x => !x.hidden)")
            assert page.execute_script("return window.ran") is None
            assert not page.find_elements("css selector", ".trouble img, .trouble script, main script")
        page.get(page.current_url)
        assert page.execute_script("return window.ran") is None


def test_the_presets_open_by_keyboard(page):
    from selenium.webdriver.common.keys import Keys

    link = page.find_element("link text", PRESETS[-1].title)
    link.send_keys(Keys.ENTER)
    until(page, f"document.title.includes({PRESETS[-1].title!r})")
    assert page.find_element("id", "schedule").get_property("value") == PRESETS[-1].state.schedule
    current = page.find_elements("css selector", "[aria-current]")
    assert [each.text for each in current] == [PRESETS[-1].title]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 768, 1400])
def test_no_window_is_too_narrow(page, url, width, dark):
    page.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    try:
        for preset in (PRESETS[0], PRESETS[5], PRESETS[13], PRESETS[-1]):
            page.get(f"{url}?{preset.state.query}")
            assert page.execute_script("return document.documentElement.scrollWidth") <= width
            colours = page.execute_script(
                "const style = getComputedStyle(document.body); return [style.color, style.backgroundColor]"
            )
            ink, paper = (sum(map(int, colour[4:-1].split(","))) for colour in colours)
            assert abs(ink - paper) > 450
            assert (ink > paper) == dark
    finally:
        page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_a_server_that_is_gone_is_told(page):
    page.execute_script("window.fetch = () => Promise.reject(new TypeError('failed'))")
    page.find_element("id", "expression").send_keys(" + b(i)")
    until(page, "document.querySelector('#trouble-expression p').textContent.includes('does not answer')")
