import { act, answer, ask, confirm, findCursor, pressUntil } from '../support/terminals/dash.ts';
import type { Terminal } from '../support/terminals/terminal.ts';
import { until } from '../support/wait.ts';

/** A person's actions in the dashboard, step by step, by keys alone. */
export interface Hands {
  /** Goes to the first row of work whose title contains the word. */
  find(word: string): Promise<void>;
  /** Removes the filter of `find`. */
  release(): Promise<void>;
  /** Adds a task for an agent, which is this many places after the first one. */
  addTask(title: string, prompt: string, agent: number): Promise<void>;
  /** Opens the selected worker's work over the whole screen. */
  openWork(): Promise<void>;
  /** Asks about all marked rows with a key, reads the whole question, and answers it. */
  answerForAll(key: string, answers: string): Promise<void>;
  /** Opens the work, goes to the diff line that contains the text, and writes a comment on it. */
  comment(line: string, text: string): Promise<void>;
  /** Returns to the list from any view. */
  close(): Promise<void>;
  /**
   * Reads the whole message to a worker, sends it, and waits until the next run, which is then selected, has ended.
   */
  sendFollowUp(): Promise<void>;
  /** Does the same for the selected worker. */
  promoteSelected(): Promise<void>;
  /** Reads a worker's whole work, merges it, and returns to the list. */
  promote(word: string): Promise<void>;
}

export function createHands(terminal: Terminal): Hands {
  async function find(word: string): Promise<void> {
    terminal.keys('1');
    await terminal.shows('═ 1 Work');
    await act(terminal, '/');
    await terminal.shows(/^ filter/m);
    await act(terminal, 'C-u');
    terminal.type(word);
    await terminal.shows(`${word}▏`);
    terminal.keys('Enter');
    // The title also shows the filter while it is being typed.
    await terminal.gone(/^ filter/m);
    await terminal.shows(new RegExp(`═ 1 Work +/${word} `));
    terminal.keys('g');
    await terminal.shows(new RegExp(`║ [▶◉].*${word}`));
  }

  async function openWork(): Promise<void> {
    await act(terminal, 'Enter');
    // With several workspaces the title starts with the workspace's name.
    const screen = await terminal.shows(/╔═ (?:\w+ · )?t-\d+ s-\d+ (?:work|log)/);
    if (/╔═ (?:\w+ · )?t-\d+ s-\d+ log/.test(screen)) {
      terminal.keys('v');
      await terminal.shows(/╔═ (?:\w+ · )?t-\d+ s-\d+ work/);
    }
    await terminal.shows(/no conflicts|conflicts in/);
  }

  async function close(): Promise<void> {
    await pressUntil(terminal, 'Escape', (screen) => /═ \d \w+/.test(screen), { what: 'the list' });
  }

  /** Presses it again while the branch, which has just moved, is being read. */
  const goToEnd = (): Promise<unknown> =>
    until(() => {
      if (!/▼ \d+ more/.test(terminal.screen()))
        return /no conflicts|conflicts in|[+]/.test(terminal.screen());
      terminal.keys('G');
      return false;
    }, 'the end of the work');

  async function promoteSelected(): Promise<void> {
    await openWork();
    await terminal.shows('no conflicts');
    await goToEnd();
    await confirm(terminal, ['p', 'm'], 'into main?', 'nothing was pushed');
    await close();
  }

  return {
    find,
    close,
    async sendFollowUp() {
      const isReadToItsEnd = (screen: string): boolean =>
        !/▼ \d+ more/.test(screen.split('\n').find((line) => line.includes('Send this to')) ?? '') &&
        screen.includes('y send');
      await terminal.shows(/y send|▼ \d+ more/);
      await pressUntil(terminal, 'Space', isReadToItsEnd, { what: 'the end of what is sent' });
      await pressUntil(terminal, 'y', (screen) => /s-\d+ continues s-\d+/.test(screen), {
        ...{ what: 'the follow-up', watched: (screen) => String(screen.includes('y send')) },
      });
      const [, session] = /(s-\d+) continues s-\d+/.exec(terminal.screen()) ?? [];
      await terminal.shows(new RegExp(`t-\\d+ ${session} work .*ready`), 'the end of the follow-up');
      await close();
    },
    promoteSelected,
    openWork,
    async release() {
      await act(terminal, '/');
      await terminal.shows(/^ filter/m);
      await act(terminal, 'C-u');
      await terminal.shows(/filter: ▏/);
      terminal.keys('Enter');
      await terminal.gone(/^ filter/m);
    },
    async addTask(title, prompt, agent) {
      await act(terminal, 'n');
      await terminal.shows('▶ title');
      terminal.type(title);
      await terminal.shows(`${title}▏`);
      terminal.keys('Tab');
      await terminal.shows('▶ prompt');
      terminal.paste(prompt);
      await terminal.shows(prompt.slice(0, 40));
      terminal.keys('Tab');
      await terminal.shows(/▶ who +◂ agent alice/);
      for (const name of ['bob', 'carol'].slice(0, agent)) {
        terminal.keys('Right');
        await terminal.shows(`◂ agent ${name}`);
      }
      terminal.keys('C-s');
      // The task is created, and its run is asked about.
      await terminal.shows(/Run t-\d+ with \w+\?/);
      await act(terminal, 'Escape');
      await terminal.gone(/Run t-\d+ with/);
      await terminal.shows(title);
    },
    async answerForAll(key, answers) {
      await act(terminal, key);
      await terminal.shows('marked?');
      await terminal.shows(new RegExp(`Space continues|${answers}`));
      await pressUntil(terminal, 'Space', (screen) => screen.includes(answers), { what: answers });
      await answer(terminal, answers.slice(0, 1));
    },
    async comment(line, text) {
      await openWork();
      await goToEnd();
      await terminal.shows(line);
      // The diff is fetched again once a branch has moved.
      await ask(terminal, 'c', 'j k choose the line');
      await pressUntil(terminal, 'j', (screen) => screen.includes(`▶${line}`), {
        ...{ what: `the cursor at ${line}`, watched: findCursor },
      });
      await act(terminal, 'c');
      await terminal.shows(/comment on \S+:\d+:/);
      terminal.type(text);
      await terminal.shows(`${text}▏`);
      terminal.keys('Enter');
      await terminal.shows(/comment \d+ by/);
    },
    async promote(word) {
      await find(word);
      await promoteSelected();
    },
  };
}
