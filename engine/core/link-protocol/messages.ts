import { z } from 'zod';
import { toPrintable } from '../base/text.ts';
import { CHANNELS } from './channels.ts';

// The messages between a workspace and a linked server. Both sides validate with these schemas, which are strict:
// messages with unknown fields are refused and not stored. docs/reference/server-api.md is generated from them.

/** The version of this protocol, sent as `Svc-Protocol` with every request of a workspace. */
export const LINK_PROTOCOL = 1;
export const PROTOCOL_HEADER = 'svc-protocol';

/** Maximum events per call, and maximum bytes of its body. */
export const MOST_EVENTS = 100;
export const LARGEST_EVENTS_BYTES = 256 * 1024;
/** Maximum of a list of pending decisions. */
export const MOST_DECISIONS = 500;
/** Sessions that have not ended, in the same request. */
export const MOST_SESSIONS = 500;
export const LARGEST_DECISIONS_BYTES = 2 * 1024 * 1024;
/** Maximum seconds of a long poll. */
export const LONGEST_POLL_S = 25;
/** How long a command may be applied after it was given, ms. */
export const COMMAND_LIFE_MS = 3600_000;
/** The longest answer that a workspace reads, bytes. */
export const LARGEST_ANSWER_BYTES = 64 * 1024;

const id = (prefix: string, what: string) =>
  z
    .string()
    .regex(new RegExp(`^${prefix}-[1-9]\\d{0,14}$`))
    .describe(what);
const time = z.iso.datetime({ offset: false }).describe('RFC 3339, UTC');
/** Readers remove unprintable and bidirectional characters. */
const plainText = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .overwrite((text) => toPrintable(text));
const shortText = (what: string) => plainText(200).describe(what);
const word = (what: string) =>
  z
    .string()
    .regex(/^[a-z][a-z_]{0,39}$/)
    .describe(what);
const workspaceName = shortText('`workspace.name`');
const titleField = plainText(200)
  .nullable()
  .describe(
    'as `server.titles` allows: given by a person or an issue, otherwise the template or agent; null for none',
  );

/** `POST /v1/workspaces`, with the token of a machine. */
export const linkRequest = z.strictObject({
  key: z
    .string()
    .regex(/^[\w-]{8,64}$/)
    .describe('random, from the data folder: after linking again it is the same workspace'),
  name: workspaceName,
  version: z.string().min(1).max(32).describe('of svc'),
});

export const linkAnswer = z.strictObject({
  workspace: z.string().min(1).max(64).describe('the id that the server gave it'),
  token: z
    .string()
    .regex(/^svcw_[\w-]{20,100}$/)
    .describe('of this workspace; shown once'),
  account: shortText('its name'),
  person: shortText('who logged the machine in'),
  lease_key: z
    .string()
    .regex(/^[\w-]{43}$/)
    .describe('the public key of leases (`x` of an Ed25519 JWK, RFC 8037), pinned from then on'),
  server_time: time,
});

/** `GET /v1/lease?nonce=N` */
export const leaseAnswer = z.strictObject({
  lease: z.string().max(16_384).describe('a JWS of three days, as docs/team/server.md describes it'),
});

/** `POST /v1/workspace/token`: the old token is valid until the new one was used. */
export const tokenAnswer = linkAnswer.pick({ token: true, server_time: true });

/** A pull request, and its checks as the workspace saw them last. */
export const linkPullRequest = z.strictObject({
  number: z.int().min(1),
  url: z
    .url({ protocol: /^https$/ })
    .max(600)
    .describe('its page'),
  state: z.enum(['open', 'merged', 'closed']),
  // Left out if unknown, so that servers of earlier versions accept the rest.
  checks: z
    .strictObject({
      state: z.enum(['pending', 'passed', 'failed']),
      failed: shortText('the first that failed; null if `server.titles` is `none`').nullable(),
    })
    .optional(),
});

/** The transmitted part of an outbound event: its envelope (docs/automate/events.md) reduced. */
export const linkEvent = z.strictObject({
  id: z
    .string()
    .regex(/^[\w-]{1,80}$/)
    .describe('the same each time the event is sent'),
  event: word('see docs/automate/events.md'),
  at: time,
  project: shortText('its id').nullable(),
  task_id: id('t', 'such as `t-42`').nullable(),
  decision_id: id('d', 'such as `d-17`').nullable(),
  session_id: id('s', 'such as `s-9`').nullable(),
  agent: shortText('the preset').nullable(),
  status: z.enum(['open', 'assigned', 'running', 'done', 'failed']).nullable().describe("the task's"),
  title: titleField,
  reason: plainText(300).nullable().describe('written by svc, never text that a person typed'),
  // Left out of all other events, so that servers of earlier versions refuse only these.
  pull_request: linkPullRequest
    .optional()
    .describe('only in `pull_request`: that of the session, when it or the state of its checks changes'),
});
export type LinkEvent = z.output<typeof linkEvent>;

/** A session that has not ended. */
export const liveSession = z.strictObject({
  session_id: id('s', 'such as `s-9`'),
  state: z.enum(['queued', 'running', 'paused']),
  reason: plainText(300).nullable().describe('why it is paused, written by svc'),
  since: time.describe('when it was created'),
  title: titleField,
  project: shortText('its id').nullable(),
  agent: shortText('the preset').nullable(),
  pull_request: linkPullRequest.nullable(),
});
export type LiveSession = z.output<typeof liveSession>;

/** `POST /v1/events` */
export const eventsRequest = z.strictObject({
  workspace: workspaceName,
  events: z.array(linkEvent).min(1).max(MOST_EVENTS),
});
export const eventsAnswer = z.strictObject({
  kept: z.int().min(0).describe('number of new events'),
  server_time: time,
});

/** A pending decision. */
export const pendingDecision = z.strictObject({
  decision_id: id('d', 'such as `d-17`'),
  task_id: id('t', 'such as `t-42`'),
  hash: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('of exactly what would run; an approval names it'),
  agent: shortText('the preset').nullable(),
  project: shortText("its id; null for the workspace's own project").nullable(),
  title: titleField,
  source: z.enum(['task', 'codehost', 'chat', 'cli', 'tool', 'tui']).describe('where the task comes from'),
  author: shortText('the handle of its author outside svc').nullable(),
  author_role: word('what the author is in the repository, as the code host says: `member`')
    .nullable()
    .default(null),
  reference: shortText('the issue or comment of the code host that it came from: `acme/shop#12`')
    .nullable()
    .default(null),
  url: z
    .url({ protocol: /^https$/ })
    .max(600)
    .nullable()
    .default(null)
    .describe('the page of that issue or comment'),
  prompt_length: z.int().min(0).describe('in characters; the prompt itself is not sent'),
  why: plainText(300).describe('why it waits, in words of svc'),
  since: time,
  approval: z
    .enum(['yes', 'code', 'untrusted', 'off'])
    .describe(
      'how it can be approved from outside: `code` with a one-time code, `untrusted` not at all (its author is untrusted), `off` not at all (`server.decide` is empty)',
    ),
});
export type PendingDecision = z.output<typeof pendingDecision>;

/** `PUT /v1/decisions`: the whole list, after each change. */
export const decisionsRequest = z.strictObject({
  workspace: workspaceName,
  channels: z.array(z.enum(CHANNELS)).max(CHANNELS.length).describe('channels by which a person may decide'),
  decisions: z
    .array(pendingDecision)
    .max(MOST_DECISIONS)
    .refine(
      (all) => new Set(all.map(({ decision_id }) => decision_id)).size === all.length,
      'two decisions have the same id',
    )
    .describe('oldest first'),
  more: z.int().min(0).describe('number of further waiting decisions'),
  sessions: z
    .array(liveSession)
    .max(MOST_SESSIONS)
    .default([])
    .describe('those that have not ended, the newest; none if `server.events` leaves out `dispatched`'),
});
export type DecisionsRequest = z.output<typeof decisionsRequest>;
export const timeAnswer = z.strictObject({ server_time: time });

const commandId = z.string().regex(/^k_[\w-]{8,64}$/);

/** A request to a workspace, which decides itself whether to follow it. */
export const linkCommand = z.strictObject({
  id: commandId.describe('applied once, however often it arrives'),
  seq: z.int().min(1).describe('for `after`'),
  at: time.describe('when it was given'),
  verb: word('`approve`, `deny` or `refresh`; anything else is refused'),
  decision_id: z.string().max(64).nullable(),
  hash: z.string().max(64).nullable().describe('of what the person was shown'),
  person: z.string().max(200).nullable(),
  channel: z.string().max(40).nullable(),
  code: z.string().max(16).nullable().describe('the one-time code that the person typed'),
});
export type LinkCommand = z.output<typeof linkCommand>;

/** `GET /v1/commands?after=N&wait=S&instance=I` */
export const commandsAnswer = z.strictObject({
  commands: z.array(linkCommand).max(100),
  contested: z.boolean().describe('two engines poll with this token; neither receives commands'),
  server_time: time,
});
export type CommandsAnswer = z.output<typeof commandsAnswer>;

/** The outcome of a command, from the workspace. */
export const OUTCOMES = {
  started: 'approved, and a worker was started',
  denied: 'denied',
  refreshed: 'the lease was fetched again',
  already_decided: 'it was already decided',
  changed: 'what would run differs from what was shown',
  unknown_decision: 'the workspace has no such decision',
  not_allowed: '`server.decide` does not let this person decide by this channel',
  actor_denied: '`policy.actors` does not list them',
  remote_untrusted: "the task's author is untrusted, so it can only be approved at the machine",
  code_missing: '`server.decide_code` is on and `svc link code` was never run',
  code_invalid: 'the one-time code was missing, wrong or used',
  code_closed: 'five codes were wrong; approval from outside is blocked for a quarter of an hour',
  too_old: 'it was given more than an hour ago',
  unknown_verb: 'the workspace does not know this verb',
  refused: 'the workspace could not do it; `code` gives the reason',
} as const;
export type OutcomeWord = keyof typeof OUTCOMES;

/** `POST /v1/commands/ID` */
export const commandOutcome = z.strictObject({
  outcome: z.enum(Object.keys(OUTCOMES) as [OutcomeWord, ...OutcomeWord[]]),
  session_id: id('s', 'started session').nullable(),
  decided_by: plainText(200).nullable().describe('who decided it before'),
  state: z.enum(['pending', 'approved', 'denied', 'expired']).nullable().describe('of the decision'),
  code: word('an error of docs/reference/errors.md').nullable(),
});
export type CommandOutcome = z.output<typeof commandOutcome>;
