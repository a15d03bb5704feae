import Markup

/// The script that makes the figures of the status page live.
///
/// While the page is visible, it asks every few seconds whether `status.json` has another entity tag. Then it loads the
/// page again and replaces the content, so that the figures are written in one place only: on the server. Open details
/// stay open, and the keyboard focus stays where it is.
enum StatusScript {
  /// The source of the script.
  static let source: HTML = """
    (() => {
      const interval = 5000;
      const live = document.getElementById("live");
      let tag = document.documentElement.dataset.tag;
      let timer;
      const show = (state, text) => {
        live.className = state;
        if (live.textContent !== text) live.textContent = text;
      };
      const replace = (text) => {
        const next = new DOMParser().parseFromString(text, "text/html");
        const old = document.getElementById("status");
        const fresh = next.getElementById("status");
        const details = new Map([...fresh.querySelectorAll("details")].map((each) => [each.dataset.key, each]));
        for (const each of old.querySelectorAll("details")) {
          const same = details.get(each.dataset.key);
          if (same) same.open = each.open;
        }
        const focused = old.contains(document.activeElement) && document.activeElement.closest("details");
        old.replaceWith(document.adoptNode(fresh));
        if (focused) details.get(focused.dataset.key)?.querySelector("summary").focus({ preventScroll: true });
        document.title = next.title;
        tag = next.documentElement.dataset.tag;
      };
      const get = async (path, options) => {
        const response = await fetch(path, { cache: "no-store", signal: AbortSignal.timeout(interval * 2), ...options });
        if (!response.ok && response.status !== 304) throw new Error(response.status);
        return response;
      };
      const isSelecting = () => {
        const selection = getSelection();
        return selection && !selection.isCollapsed && selection.containsNode(document.getElementById("status"), true);
      };
      const update = async () => {
        clearTimeout(timer);
        if (document.hidden) return;
        try {
          const answer = await get("status.json", { method: "HEAD", headers: { "If-None-Match": tag } });
          if (answer.status !== 304 && !isSelecting()) replace(await (await get("./")).text());
          show("on", live.dataset.live);
        } catch {
          if (live.className !== "lost") {
            show("lost", live.dataset.lost + " " + new Date().toISOString().slice(11, 16) + " UTC");
          }
        }
        timer = setTimeout(update, interval);
      };
      document.addEventListener("visibilitychange", update);
      update();
    })();
    """
}
