import type { Api } from '../../engine/index.ts';
import type { PaneId } from '../pane-ids.ts';
import type { ListedAsk, ListedMemory, ListedMessage } from './rows.ts';

/** A line of text that is being typed. */
export interface LineInput {
  value: string;
  /** In UTF-16 units. */
  caret: number;
}

/** Something over the panes that has the keyboard. Esc closes it. */
export type OverlayState =
  | { kind: 'help' | 'palette'; input: LineInput; index: number }
  | { kind: 'filter'; pane: PaneId; before: string; input: LineInput }
  | { kind: 'search'; of: string; input: LineInput }
  | { kind: 'reason'; decision: string; hash: string; input: LineInput }
  /** Asks for the id of a task from an untrusted author that would run without a sandbox. */
  | { kind: 'unconfined'; decision: string; task: string; hash: string; input: LineInput }
  | { kind: 'agent'; task: string; index: number }
  | ChooseCommand
  | ChooseRacers
  | CompareRace
  | OpenPullRequest
  | WriteComment
  | WritePrompt
  | WriteMemory
  | SendFollowUp
  | AnswerAsk
  | WriteMessage
  | NewTaskForm
  | BulkQuestion
  | { kind: 'text'; title: string; lines: readonly string[]; top: number }
  | { kind: 'impact'; session: string; top: number }
  | { kind: 'preferences'; index: number }
  | { kind: 'engine'; top: number };

/** The commands of the project for the worktree of a session. */
export interface ChooseCommand {
  kind: 'command';
  session: string;
  task: string;
  commands: Api['worktree.commands']['output'];
  index: number;
}

/** One question about every marked row of a list. */
export interface BulkQuestion {
  kind: 'bulk';
  pane: PaneId;
  binding: string;
  /** True if it shows the contents of previews, so their details are fetched. */
  needsDetails: boolean;
  /** When it was opened. */
  at: number;
  /** Index of the first visible line. */
  top: number;
  /** How many lines have been on the screen. */
  seen: number;
  /** By id, the question's text for each row when all of it was known; null before that. A row whose text changes is left out. */
  asked: ReadonlyMap<string, string> | null;
}

/** Calls about many rows in progress, whose answers become one message. */
export interface BulkRun {
  label: string;
  /** Subjects without an answer so far. */
  waiting: readonly string[];
  done: readonly string[];
  refused: readonly LeftOut[];
  leftOut: readonly LeftOut[];
  /** True if each row was reached that the question had not listed as left out. */
  isAsAsked: boolean;
}

/** A marked row that an action did not reach, and why. */
export interface LeftOut {
  id: string;
  reason: string;
}

/** The priorities of a task, the usual one first. */
export const TASK_PRIORITIES = ['normal', 'high', 'low'] as const;

export interface NewTaskForm {
  kind: 'new-task';
  /** Index of the field that has the keyboard. */
  field: number;
  title: LineInput;
  /** Of several lines. */
  prompt: LineInput;
  /** Index into the agents followed by the templates. */
  who: number;
  /** The branch to start from; empty for the one that is checked out. */
  base: LineInput;
  /** Index into `TASK_PRIORITIES`. */
  priority: number;
  /** Such as `600`, `30m` or `2h`; empty for the agent's own. */
  timeout: LineInput;
  project: number;
  /** One criterion per line. */
  criteria: string;
  context: string;
  ledger: LineInput;
}

/** The agents for the race of a task. */
export interface ChooseRacers {
  kind: 'race';
  task: string;
  /** The stamp of the task when it was opened. */
  stamp: string;
  index: number;
  /** How many sessions each agent gets. */
  counts: Readonly<Record<string, number>>;
  /** The time of the question about the start, by the keys' clock; null while agents are being chosen. */
  askedAt: number | null;
}

/** The sessions of a race, and the diff of one of them. */
export interface CompareRace {
  kind: 'compare';
  task: string;
  /** Index of the session whose diff is shown. */
  index: number;
  /** The file of the diff, the same for all of them; null for the first one. */
  path: string | null;
  /** Its lines above the screen. */
  top: number;
  /** The time of the question about the promotion, by the keys' clock; null otherwise. */
  askedAt: number | null;
}

/** The pull request that would be opened, for reading first. */
export interface OpenPullRequest {
  kind: 'pull-request';
  session: string;
  material: Api['worktree.pr']['output'];
  /** The remote to push to; null if none is chosen, or there is none. */
  remote: string | null;
  top: number;
  openedAt: number;
}

/** A comment on a line of a diff, while it is being written. */
export interface WriteComment {
  kind: 'comment';
  session: string;
  /** The commit that the diff ended at. */
  head: string;
  path: string;
  side: 'new' | 'old';
  line: number;
  input: LineInput;
  /** A text of several lines, which only the editor changes; null if it fits into `input`. */
  long: string | null;
}

/** An edited prompt of a decision that was not saved. */
export interface WritePrompt {
  kind: 'prompt';
  decision: string;
  /** The stamp of the decision when its prompt was opened. */
  hash: string;
  /** The prompt of the decision. */
  before: string;
  long: string;
}

/** Edited title and text of a memory that were not saved. */
export interface WriteMemory {
  kind: 'memory';
  memory: ListedMemory;
  long: string;
}

/** A follow-up for an ended session, for reading before it is sent. */
export interface SendFollowUp {
  kind: 'follow-up';
  session: string;
  text: string;
  /** Ids of the comments that the text includes. */
  comments: readonly number[];
  /** Index of the first visible line. */
  top: number;
  openedAt: number;
  /** The stamp of the session when it was opened. */
  stamp: string;
}

/** An opened ask. `ask` is the row at that moment, so that the answer goes to the ask that was read. */
export interface AnswerAsk {
  kind: 'answer';
  ask: ListedAsk;
  input: LineInput;
  /** Index of the first visible line. */
  top: number;
  openedAt: number;
}

/** A message, while it is being written. */
export interface WriteMessage {
  kind: 'write';
  /** The message that this one replies to. */
  parent: ListedMessage | null;
  /** The live sessions when writing started. */
  targets: readonly { session: string; about: string }[];
  to: number;
  message: ListedMessage['kind'];
  field: number;
  text: LineInput;
  /** A text of several lines from the editor, which replaces `text`. */
  long: string | null;
}
