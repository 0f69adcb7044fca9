import type { EngineClient } from '../../engine/index.ts';
import type { State } from '../state/model.ts';
import type { TerminalNotice } from '../terminal-notices.ts';

/** The terminal of a dashboard, as far as notices need it. */
export interface NoticeTerminal {
  /** True if it can show a notice with words. */
  canShow: boolean;
  show(notice: TerminalNotice): void;
}

/**
 * Takes the notices for the person while the dashboard is open, unless `notices` is off. The engine learns whether
 * they can be shown here, or whether the person looks at the dashboard anyway; otherwise it uses the desktop.
 */
export function followNotices(options: {
  client(): EngineClient;
  getState(): State;
  terminal: NoticeTerminal;
}): { onStateChange(): void } {
  const { terminal, getState } = options;
  let asked = '';
  let turn: Promise<unknown> = Promise.resolve();
  let current: { client: EngineClient; subscription: number } | null = null;

  function showUnlessSeen(notice: unknown): void {
    const { hasFocus, preferences } = getState();
    if (hasFocus !== true && preferences.notices) terminal.show(notice as TerminalNotice);
  }

  async function changeTo(shows: boolean | null): Promise<void> {
    const before = current;
    current = null;
    if (shows !== null) {
      const client = options.client();
      const { subscription } = await client.subscribe('notices.follow', { shows }, ({ method, params }) => {
        if (method === 'notice') showUnlessSeen(params.notice);
      });
      current = { client, subscription };
    }
    // The subscription of a lost connection has ended with it.
    await before?.client.unsubscribe(before.subscription).catch(() => undefined);
  }

  return {
    onStateChange() {
      const { link, preferences, hasFocus } = getState();
      const isOn = link.phase === 'live' && preferences.notices;
      const shows = terminal.canShow || hasFocus === true;
      const key = isOn ? `${link.since} ${shows}` : '';
      if (key === asked) return;
      asked = key;
      // An engine of an earlier version has no notices.
      turn = turn.then(() => changeTo(isOn ? shows : null)).catch(() => undefined);
    },
  };
}
