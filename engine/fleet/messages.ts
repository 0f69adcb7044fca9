import { z } from 'zod';
import { END_CODES } from '../workers/agents/index.ts';
import { MOST_TIPS } from '../workers/runner/worktrees/transfer/index.ts';

/** The messages between the board and the machine of a runner. Each end checks all that it reads. */

const absolutePath = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^\/[^\0]*$/);
const objectId = z.string().regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/);
/** See `Transfers.identifyRepository`. */
const repositoryId = z.string().regex(/^[0-9a-f]{24}$/);
const sessionBranch = z.string().regex(/^svc\/s-\d{1,15}(?:-[0-9a-f]{4})?$/);
const sessionId = z.string().regex(/^s-\d{1,15}$/);
const offset = z.int().min(0);
const text = z.string().max(1_000_000);
const count = z.int().min(0).max(1e12);
const port = z.int().min(1).max(65_535).nullable();

export const runName = z.object({ sessionId, runId: z.uuid() });

/** A placement as its own machine sees it, with the id of the repository instead of its folder. */
const placement = z.object({
  runner: z.null(),
  repository: repositoryId,
  worktree: absolutePath,
  cwd: absolutePath,
  branch: sessionBranch,
  base: z.string().max(1000).nullable(),
  baseCommit: objectId,
  port,
});

export type WirePlacement = z.infer<typeof placement>;

const setup = z.object({
  id: text,
  folder: text,
  own: z.boolean(),
  setup: z.array(text),
  teardown: z.array(text),
  envFiles: z.array(text),
  run: z.array(z.object({ name: text, command: text })),
  consent: z.enum(['not_needed', 'given', 'changed', 'none']),
  digest: text,
  folderWaits: z.boolean(),
  problem: text.nullable(),
});

const profile = z.string().max(40).nullable();
const transport = z.enum(['subprocess', 'acp']);
const format = z.object({ transport, preset: text.nullable() });
const watch = z.object({ run: runName, format, outputFrom: offset });

/** A session whose work is checked, and the repository that has it. */
export const checkedSession = z.object({
  session: z.object({ sessionId, taskId: text, project: text.nullable(), profile }),
  repository: repositoryId,
});

/** The orders of the board, by the name of their call. */
export const orders = {
  place: z.object({
    sessionId,
    origin: z
      .object({
        repository: repositoryId,
        inside: z.string().max(4096),
        branch: sessionBranch,
        base: z.string().max(1000).nullable(),
        baseCommit: objectId,
      })
      .nullable(),
    placement: placement.nullable(),
    former: placement.nullable(),
    isQuiet: z.boolean(),
    note: text.nullable(),
    /** The offset at which the log of the session starts on this machine: the end of its output elsewhere. */
    logFrom: offset,
  }),
  prepare: z.object({
    run: runName,
    taskId: z.string().regex(/^t-\d{1,15}$/),
    project: text.nullable(),
    setup,
    profile,
    placement,
    mayHoldWork: z.boolean(),
    agentFolderOf: sessionId.nullable(),
  }),
  start: z.object({
    run: runName,
    profile,
    placement,
    agent: z.string().min(1).max(200),
    command: z.object({ transport, template: text, isBuiltIn: z.boolean() }),
    worker: z.string().max(200),
    texts: z.object({
      prompt: z.string(),
      brief: z.string(),
      notes: z.string().nullable(),
      resumption: z.string().nullable(),
    }),
    agentSession: text.nullable(),
    author: z.record(z.string(), text),
    variables: z.record(z.string(), text),
    timeoutSec: z.number().min(0),
    gateway: z.looseObject({ url: text, key: text }).nullable(),
  }),
  adopt: z.object({
    run: runName,
    profile,
    process: z.object({ pid: z.int().positive(), pidStart: text }).nullable(),
    mayNotHaveStarted: z.boolean(),
  }),
  watch,
  stop: z.object({ run: runName, graceMs: z.number().min(0).max(3_600_000) }),
  collect: watch.extend({
    placement: placement.nullable(),
    profile,
    worker: z.string().max(200),
    since: z.number(),
    resumed: text.nullable(),
  }),
  keep: z.object({
    sessionId,
    number: z.int().min(0),
    profile,
    placement,
    isAlone: z.boolean(),
    message: text.nullable(),
  }),
  /** Removes the files of a run; and the worktree of its session, if the board has never heard where that is. */
  discard: runName.extend({ isUnplaced: z.boolean().optional() }),
  /** Ends the runner of a machine that has joined, and removes its folders. */
  leave: z.object({}),
  /** Ends all runs: the board has cut this machine off. */
  halt: z.object({ graceMs: z.number().min(0).max(60_000) }),
  clear: z.object({
    session: z.object({ sessionId, taskId: text, project: text.nullable(), profile }),
    placement,
    setup,
    /** The end of its branch that the board has; null if it has none. */
    confirmed: objectId.nullable(),
  }),
  /** Runs commands in a clean checkout of a session's work. */
  check: checkedSession.extend({
    /** Marks the processes of this check. */
    mark: z.uuid(),
    commit: objectId,
    /** The project's folder in the repository. */
    inside: z.string().max(4096),
    setup,
    commands: z.array(text).max(500),
    /** The time limit of each command, ms. */
    timeoutMs: z.number().min(0).max(86_400_000),
  }),
  /** Which commits the mirror of a repository has. */
  tips: z.object({ repository: repositoryId }),
  /** The end of a session's branch in the mirror; with `isOfWorker`, also if only its confined worker has it yet. */
  findTip: z.object({
    repository: repositoryId,
    branch: sessionBranch,
    isOfWorker: z.boolean().default(false),
  }),
  /** Saves the uncommitted files of a session on top of its last commit. */
  snapshot: z.object({
    repository: repositoryId,
    branch: sessionBranch,
    sessionId,
    number: z.int().min(0).max(1_000_000),
    message: z.string().max(1000),
  }),
} as const;

const runProcess = z.object({
  pid: z.int().positive(),
  pidStart: z.string().max(200),
  containment: z.enum(['cgroup', 'pidns', 'marks']).nullable(),
});
const exit = z.object({
  code: z.int().nullable(),
  signal: z.string().max(40).nullable(),
  endedBy: z.enum(['lease', 'timeout']).optional(),
});
const usage = z.object({
  input: count,
  cached: count,
  output: count,
  costUsd: z.number().min(0).max(1e6).nullable(),
});
const failedEnd = z.object({
  ok: z.literal(false),
  code: z.enum(END_CODES),
  text: z.string().max(1000),
  resetAt: z.number().nullable(),
});
const shortText = z.string().max(1000).nullable();
const facts = z.object({
  isStream: z.boolean(),
  agentSession: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._:@/+=-]{0,199}$/)
    .nullable(),
  model: shortText,
  usage: usage.nullable(),
  conversation: usage.nullable(),
  activity: shortText,
  toolCalls: count,
  plan: z
    .array(z.object({ text: z.string().max(1000), state: z.enum(['pending', 'active', 'done']) }))
    .max(200),
  end: z.union([z.object({ ok: z.literal(true) }), failedEnd]).nullable(),
  trouble: failedEnd.nullable(),
});

/** The progress that a machine reports during a check. */
export const checkReport = z.object({ progress: z.string().max(1000) });

export const runReport = z.object({ facts, quietMs: z.number().min(0) });

/** The answers of the machine, by the name of their call. */
export const answers = {
  place: z.object({ placement, outputFrom: offset }),
  prepare: z.object({ svc: absolutePath.nullable(), outputFrom: offset.nullable() }),
  start: runProcess,
  adopt: z.discriminatedUnion('state', [
    z.object({ state: z.literal('not_started') }),
    z.object({ state: z.literal('running'), process: runProcess }),
    z.object({ state: z.literal('ended'), exit }),
  ]),
  watch: exit.nullable(),
  stop: z.null(),
  /** `logEnd`: the end of the log there. */
  collect: z.object({ facts, hasSpoken: z.boolean(), hasLostSession: z.boolean(), logEnd: offset }),
  keep: z.object({ left: z.array(z.string().max(4000)).max(200) }),
  discard: z.object({ logEnd: offset }),
  halt: z.null(),
  leave: z.null(),
  clear: z.array(z.string().max(4000)).max(200),
  check: z
    .array(z.object({ exitCode: z.int().min(0).max(255).nullable(), output: z.string().max(16 * 1024) }))
    .max(500),
  tips: z.array(objectId).max(MOST_TIPS),
  findTip: objectId.nullable(),
  /** The end of the branch, and the commit that holds what is uncommitted; null for none. */
  snapshot: z.object({ tip: objectId.nullable(), commit: objectId.nullable() }),
} as const;

/** Names the ref that holds the snapshots of a run, on its machine and here. Sessions that continue each other share a branch. */
export const nameSnapshot = (branch: string, sessionId: string, number: number): string =>
  `refs/svc/${branch.slice(branch.indexOf('/') + 1)}/${sessionId}-run-${number}`;

export type CallName = keyof typeof orders;

/** The streams that either end opens, by their name. */
export const streams = {
  /** Board to machine: a pack with a commit and its history. */
  base: z.object({
    repository: repositoryId,
    commit: objectId,
    known: z.array(objectId).max(MOST_TIPS),
    shallow: z.array(objectId).max(100_000),
  }),
  /** Board to machine, which answers with a pack of the work of a session. */
  work: z.object({
    repository: repositoryId,
    tips: z.array(objectId).min(1).max(2),
    known: z.array(objectId).max(MOST_TIPS),
  }),
  /** Board to machine, which answers with the log of a session from an offset on: see `log-blocks.ts`. */
  log: z.object({ sessionId, from: offset }),
  /** Machine to board: a connection of a worker to the engine. */
  seat: runName,
  /** Machine to board: a connection of a worker to the gateway. */
  gateway: runName,
} as const;

/** The machine's last word about a pack that it has taken in; any other text says why it has not. */
export const RECEIVED = 'received';

/** The report of a machine every ten seconds: how busy it is, and which agents it has. */
export const heartbeat = z.object({
  /** Free space for runs, bytes; null if that is unknown. */
  diskFreeBytes: z.number().min(0).max(1e18).nullable(),
  /** Processes that want to run, for each processor, in the last minute. */
  load: z.number().min(0).max(1e6),
  /** The agents that are installed there, and whether each is logged in: null if that cannot be seen. */
  agents: z
    .array(z.object({ name: z.string().max(200), loggedIn: z.boolean().nullable() }))
    .max(500)
    .default([]),
  /** How long its runs continue without the board, as it was answered last, ms; null for ever. */
  leaseMs: z.number().min(0).nullable(),
});

export type Heartbeat = z.infer<typeof heartbeat>;

export const heartbeatAnswer = z.object({
  /** How long the runs may continue without the board, ms; null for ever. */
  leaseMs: z.number().min(0).nullable(),
});

/** The facts that a machine reports at the start of a connection and when they change. */
export const machineFacts = z.object({
  /** Changes with each start of its runner. */
  boot: z.uuid(),
  /** Why it can confine no worker, a sentence; null if it can. */
  confinementProblem: z.string().max(2000).nullable(),
  /** The agents that its own person allows; null for all. */
  agents: z.array(z.string().max(200)).max(500).nullable(),
  /** The most workers that its own person allows; null for no limit. */
  most: z.int().min(0).max(1000).nullable(),
  /** The weakest guard profile that its own person allows. */
  profile: z.enum(['none', 'lite', 'strict']),
});

export type MachineFacts = z.infer<typeof machineFacts>;
