/* Search from a folder. Browsers refuse workers on file: pages, so there the page's search runs in a hidden
 * frame that answers like a worker. On a server nothing changes. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inside = frame.contentWindow, outside = this;
      inside.document.open();
      inside.document.write("<!doctype html><body></body>");
      inside.document.close();
      inside.postMessage = data => outside.dispatchEvent(new MessageEvent("message", { data }));
      inside.importScripts = (...urls) => urls.reduce((before, src) => before.then(() => new Promise((done, failed) => {
        const script = inside.document.createElement("script");
        Object.assign(script, { src, onload: done, onerror: failed });
        inside.document.body.appendChild(script);
      })), Promise.resolve());
      this.postMessage = data => this.ready.then(() => inside.dispatchEvent(new MessageEvent("message", { data })));
      this.terminate = () => frame.remove();
      this.ready = inside.importScripts(url);
      outside.addEventListener("message", event => outside.onmessage && outside.onmessage(event));
    }
  };
}
