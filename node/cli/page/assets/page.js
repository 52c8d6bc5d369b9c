// Refreshes the page: asks for its <main> and changes the nodes that differ, so that focus,
// selection, scroll position and open details stay. The page is complete without this script.
'use strict';
(() => {
  const FIRST = 1000;      // ms between two polls
  const HIDDEN = 10000;    // in a tab that nobody sees
  const LONGEST = 30000;   // without an answer, or after the end
  const DEADLINE = 15000;  // of one poll
  const CALM = 20;         // a poll takes at most this part of the time
  const contact = document.getElementById('contact');
  let failures = 0;
  let answered = new Date();
  let timer = 0;

  function syncAttributes(old, fresh) {
    for (const { name } of [...old.attributes]) {
      // The reader opened it.
      if (!fresh.hasAttribute(name) && !(name === 'open' && old.localName === 'details')) {
        old.removeAttribute(name);
      }
    }
    for (const { name, value } of fresh.attributes) {
      if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    }
  }

  function sync(old, fresh) {
    if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName || old.id !== fresh.id) {
      old.replaceWith(document.adoptNode(fresh));
    } else if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.data !== fresh.data) old.data = fresh.data;
    } else {
      syncAttributes(old, fresh);
      const before = [...old.childNodes];
      const after = [...fresh.childNodes];
      after.forEach((child, i) => {
        if (i < before.length) sync(before[i], child);
        else old.append(document.adoptNode(child));
      });
      before.slice(after.length).forEach((child) => child.remove());
    }
  }

  function show(text) {
    const fresh = new DOMParser().parseFromString(text, 'text/html').querySelector('main');
    if (!fresh) throw new Error('the answer is no page of a node');
    sync(document.querySelector('main'), fresh);
    document.title = fresh.dataset.title || document.title;
    failures = 0;
    answered = new Date();
    contact.hidden = true;
  }

  function ended() {
    return 'ended' in document.querySelector('main').dataset;
  }

  function missed() {
    failures += 1;
    // One missed poll is no news; after the end, silence is what is expected.
    if (failures < 2 || ended()) return;
    contact.textContent = `No answer since ${answered.toLocaleTimeString()}: the node has stopped or ` +
      'cannot be reached. This is the last that it said.';
    contact.hidden = false;
  }

  async function poll() {
    const begin = performance.now();
    try {
      const answer = await fetch('/live', {
        cache: 'no-store', credentials: 'omit', signal: AbortSignal.timeout(DEADLINE),
      });
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      show(await answer.text());
    } catch {
      missed();
    }
    const took = performance.now() - begin;
    const usual = document.hidden ? HIDDEN : FIRST;
    const wait = failures > 0 ? FIRST * 2 ** Math.min(failures, 5) : Math.max(usual, CALM * took);
    timer = setTimeout(poll, ended() ? LONGEST : Math.min(wait, LONGEST));
  }

  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return;
    clearTimeout(timer);
    timer = setTimeout(poll, 0);
  });
  timer = setTimeout(poll, FIRST);
})();
