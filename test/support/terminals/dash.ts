import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { makeWorkspace, SVC, type TestWorkspace, type WorkspaceOptions } from '../workspaces/workspace.ts';
import { openTerminal, type Terminal } from './terminal.ts';

export interface Dash {
  workspace: TestWorkspace;
  terminal: Terminal;
}

/** Opens the dashboard of a new workspace in a real terminal, on a running engine. */
export async function openDash(
  t: TestContext,
  {
    columns = 80,
    rows = 24,
    args = [],
    env = {},
    ...options
  }: { columns?: number; rows?: number; args?: readonly string[] } & WorkspaceOptions = {},
): Promise<Dash> {
  const workspace = await makeWorkspace(options);
  t.after(workspace.close);
  // The command line starts the engine so that its receiver has the secret.
  await workspace.svc(['up']);
  const terminal = await openTerminal({
    command: [process.execPath, SVC, ...args],
    cwd: workspace.root,
    env: { ...workspace.env, ...env },
    columns,
    rows,
  });
  t.after(terminal.close);
  return { workspace, terminal };
}

/** Time that a person needs to see a selection that the program moved; the dashboard ignores earlier keys. */
const LOOK_MS = 300;

/** Presses a key that acts on a row that the program has just selected. */
export async function act(terminal: Terminal, key: string): Promise<void> {
  await delay(LOOK_MS);
  terminal.keys(key);
}

/** The dashboard's message for a key that it ignored and accepts on a second press; cut off on small screens. */
const NOT_NOW =
  /press again|press them one after the other|still being fetched|check it again|nothing was done|… ! for all/;

/** Minimum time to read a question. The dashboard ignores earlier answers because a person did not give them. */
const READ_MS = 60;

/** Time that the screen may stay unchanged before a key takes effect. */
const SAME_ANSWER_MS = 2000;

/** Keys are ignored for this long after a question was withdrawn. */
const REST_MS = 600;

/** Presses the first key of a question until the question shows, as a person does who reads why it does not. */
export async function ask(terminal: Terminal, key: string, question: string): Promise<void> {
  for (;;) {
    const before = terminal.screen();
    terminal.keys(key);
    const pressedAt = performance.now();
    const screen = await terminal.shows((now) => {
      // If the message was already on the screen, it answers this key only if nothing else follows.
      const isAnswer = now !== before || performance.now() - pressedAt > SAME_ANSWER_MS;
      return now.includes(question) || (isAnswer && NOT_NOW.test(now));
    }, question);
    if (screen.includes(question)) return;
    await delay(LOOK_MS);
  }
}

/**
 * Presses a key as often as needed, each time after its effect is on the screen, because an earlier press could do
 * too much. If the screen also changes by itself, `watched` selects the part that the key changes.
 */
export async function pressUntil(
  terminal: Terminal,
  key: string,
  isDone: (screen: string) => boolean,
  { what, watched = (screen) => screen }: { what: string; watched?: (screen: string) => string },
): Promise<void> {
  let before = terminal.screen();
  let pressedAt: number | null = null;
  await terminal.shows((screen) => {
    if (isDone(screen)) return true;
    const isAnswered = pressedAt === null || watched(screen) !== watched(before);
    if (isAnswered || performance.now() - (pressedAt ?? 0) > SAME_ANSWER_MS) {
      before = screen;
      terminal.keys(key);
      pressedAt = performance.now();
    }
    return false;
  }, what);
}

/** Returns the lines that contain the cursor. */
export const findCursor = (screen: string): string =>
  screen
    .split('\n')
    .filter((line) => line.includes('▶'))
    .join('\n');

/** Presses the second key of a question on the screen, as a person does who has read it. */
export async function answer(terminal: Terminal, key: string): Promise<void> {
  await delay(READ_MS);
  terminal.keys(key);
}

/** The dashboard's message when it withdraws a question because its subject has changed. */
const WITHDRAWN = /has changed: check it again|nothing was done/;

/**
 * Asks with one key and answers with another until the outcome shows, as a person does who reads that the question
 * was withdrawn.
 */
export async function confirm(
  terminal: Terminal,
  [key, second]: readonly [key: string, second: string],
  question: string,
  effect: string | RegExp,
): Promise<void> {
  const shows = (screen: string): boolean =>
    typeof effect === 'string' ? screen.includes(effect) : effect.test(screen);
  for (;;) {
    await ask(terminal, key, question);
    await answer(terminal, second);
    const screen = await terminal.shows((now) => shows(now) || WITHDRAWN.test(now), String(effect));
    if (shows(screen)) return;
    await delay(REST_MS);
  }
}
