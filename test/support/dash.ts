import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openTerminal, type Terminal } from './terminal.ts';
import { until } from './wait.ts';
import { makeWorkspace, SVC, type TestWorkspace, type WorkspaceOptions } from './workspace.ts';

export interface Dash {
  workspace: TestWorkspace;
  terminal: Terminal;
}

/** The dashboard of a workspace of its own, in a real terminal, on a running engine. */
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
  // The engine is started by the command line: its receiver has the secret.
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

/** After a selection was moved by the program, a person looks before they press; faster keys are not taken. */
const LOOK_MS = 300;

/** A key that acts on what has just been selected by itself. */
export async function act(terminal: Terminal, key: string): Promise<void> {
  await delay(LOOK_MS);
  terminal.keys(key);
}

/** What the dashboard says to a key that it did not take now, and takes when it is pressed again; cut where it is small. */
const NOT_NOW =
  /press again|press them one after the other|still being fetched|checking for conflicts|check it again|nothing was done|… ! for all/;

/** What it takes to read a question, at least. An answer that comes sooner is not taken for a person's. */
const READ_MS = 60;

/** As long as this a screen may stay as it was before a key shows in it. */
const SAME_ANSWER_MS = 2000;

/** A hand rests so long after a question was withdrawn under it; until then its keys do nothing. */
const REST_MS = 600;

/** The first key of a question, pressed until the question is there, as a person does who reads why it is not. */
export async function ask(terminal: Terminal, key: string, question: string): Promise<void> {
  for (;;) {
    const before = terminal.screen();
    terminal.keys(key);
    const pressedAt = performance.now();
    const screen = await until(() => {
      const now = terminal.screen();
      // A message that stood there before is the answer to this key only when nothing else comes.
      const isAnswer = now !== before || performance.now() - pressedAt > SAME_ANSWER_MS;
      return now.includes(question) || (isAnswer && NOT_NOW.test(now)) ? now : null;
    }, question);
    if (screen.includes(question)) return;
    await delay(LOOK_MS);
  }
}

/**
 * Presses a key as often as it takes, each time after what it did is on the screen: pressed sooner it would do more than it
 * should. Where the screen changes by itself, `watched` is what of it the key changes.
 */
export async function pressUntil(
  terminal: Terminal,
  key: string,
  isDone: (screen: string) => boolean,
  { what, watched = (screen) => screen }: { what: string; watched?: (screen: string) => string },
): Promise<void> {
  let before = terminal.screen();
  let pressedAt: number | null = null;
  await until(() => {
    const screen = terminal.screen();
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

/** The lines that say where the cursor is. */
export const findCursor = (screen: string): string =>
  screen
    .split('\n')
    .filter((line) => line.includes('▶'))
    .join('\n');

/** The second key of a question that is on the screen, by somebody who has read it. */
export async function answer(terminal: Terminal, key: string): Promise<void> {
  await delay(READ_MS);
  terminal.keys(key);
}

/** What the dashboard says when a question is withdrawn, because what it was about has changed meanwhile. */
const WITHDRAWN = /has changed: check it again|nothing was done/;

/** Asks by a key and answers by another until what comes of it shows, as a person does who reads that the question was withdrawn. */
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
