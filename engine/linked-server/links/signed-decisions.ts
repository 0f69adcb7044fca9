import { type Clock, rfc3339 } from '../../core/base/clock.ts';
import { isErrorCode, SvcError, type SvcErrorOptions } from '../../core/base/errors.ts';
import { toPrintable } from '../../core/base/text.ts';
import {
  type FieldProblem,
  fieldsInvalidError,
  parseJsonBody,
  readTextField,
  refuseOwnEvent,
} from '../../core/http/body.ts';
import type { DecisionChannel } from '../../core/link-protocol/channels.ts';
import type { CommandOutcome } from '../../core/link-protocol/messages.ts';
import type { CommandRow, LinkedWorkspace } from '../database/tables.ts';
import type { WaitingDecision } from './pending.ts';

// Requests of automations, signed, and their answers: the receiver's own fields, and the server's knowledge of a decision.

const CHANNEL: DecisionChannel = 'automation';
const FIELDS = ['decision_id', 'workspace_id', 'hash', 'reason', 'nonce'];
const LONGEST_REASON = 200;

/** The body of a request to approve or deny. */
export interface SignedWish {
  hash: string | null;
  reason: string | null;
}

/** Parses it. Throws `body_invalid`, `fields_invalid`: unknown fields are refused, as everywhere in this server. */
export function readSignedWish(
  text: Buffer,
  { workspace, decision }: { workspace: string; decision: string },
): SignedWish {
  const body = parseJsonBody(text);
  const problems: FieldProblem[] = [];
  refuseOwnEvent(body, problems);
  for (const field of Object.keys(body))
    if (!FIELDS.includes(field) && field !== 'event') problems.push({ field, problem: 'is not known here' });
  // The signature does not cover the path, so the body may name its subject.
  for (const [field, place] of [
    ['decision_id', decision],
    ['workspace_id', workspace],
  ] as const) {
    const named = readTextField(body, field, problems);
    if (named !== undefined && named !== place)
      problems.push({ field, problem: `is not the ${place} of the path` });
  }
  const hash = readTextField(body, 'hash', problems) ?? null;
  const reason = readTextField(body, 'reason', problems) ?? null;
  if (problems.length > 0) throw fieldsInvalidError(problems);
  return { hash, reason: reason === null ? null : toPrintable(reason).slice(0, LONGEST_REASON) };
}

/** The known state of a decision. */
export interface KnownDecision {
  workspace: LinkedWorkspace;
  id: string;
  /** Null if it is not pending, according to the workspace. */
  decision: WaitingDecision | null;
  /** The last command about it. */
  command: CommandRow | null;
}

const readOutcome = ({ command }: KnownDecision): CommandOutcome | null =>
  command?.outcome == null ? null : (JSON.parse(command.outcome) as CommandOutcome);

/** How it was decided; null while it is pending or unknown. */
function findVerdict(standing: KnownDecision) {
  const said = readOutcome(standing);
  if (said === null) return null;
  const { person, channel, ended_at } = standing.command!;
  const by = `${person}@${channel}`;
  const at = ended_at === null ? null : rfc3339(ended_at);
  if (said.outcome === 'started') return { state: 'approved', by, at, session: said.session_id } as const;
  if (said.outcome === 'denied') return { state: 'denied', by, at, session: null } as const;
  if (said.outcome === 'already_decided')
    return { state: said.state ?? 'expired', by: said.decided_by, at: null, session: said.session_id };
  return null;
}

/** Builds the answer with 200, or 202 before the workspace's answer. Throws `not_found`. */
export function describeStanding(standing: KnownDecision, clock: Clock) {
  const { workspace, id, decision, command } = standing;
  const verdict = findVerdict(standing);
  if (verdict === null && decision === null)
    throw new SvcError(
      'not_found',
      `${id} is not waiting in ${workspace.name}, as far as this server knows`,
      {
        hint: 'svc decision show shows it at the machine',
      },
    );
  const isAsked = command !== null && command.outcome === null && command.expires_at > clock.now();
  return {
    decision_id: id,
    task_id: decision?.task_id ?? null,
    state: verdict?.state ?? 'pending',
    created_at: decision?.since ?? null,
    decided_at: verdict?.at ?? null,
    decided_by: verdict?.by ?? null,
    dispatched: (verdict?.session ?? null) !== null,
    session_id: verdict?.session ?? null,
    workspace_id: workspace.id,
    hash: decision?.hash ?? null,
    agent: decision?.agent ?? null,
    project: decision?.project ?? null,
    title: decision?.title ?? null,
    source: decision?.source ?? null,
    author: decision?.author ?? null,
    author_role: decision?.author_role ?? null,
    reference: decision?.reference ?? null,
    url: decision?.url ?? null,
    prompt_length: decision?.prompt_length ?? null,
    why: decision?.why ?? null,
    approval: decision?.approval ?? null,
    asked: isAsked
      ? {
          verb: command.verb,
          by: `${command.person}@${command.channel}`,
          until: rfc3339(command.expires_at),
        }
      : null,
  };
}

/** Reports whether it was already decided this way. Throws `already_decided` for the opposite. */
export function isDecided(standing: KnownDecision, verb: 'approve' | 'deny'): boolean {
  const verdict = findVerdict(standing);
  if (verdict === null) return false;
  if (verdict.state === (verb === 'approve' ? 'approved' : 'denied')) return true;
  throw new SvcError('already_decided', `${standing.id} is ${verdict.state} already`, {
    data: { decision_id: standing.id, state: verdict.state, session_id: verdict.session },
  });
}

/**
 * Returns the pending decision, if an automation may request this. The workspace checks everything again. Throws its
 * expected refusals.
 */
export function requireDecidable(
  { workspace, id, decision }: KnownDecision,
  verb: 'approve' | 'deny',
  { hash }: SignedWish,
): WaitingDecision {
  const data = { decision_id: id };
  if (decision === null)
    throw new SvcError('not_found', `${id} is not waiting in ${workspace.name}`, {
      hint: 'svc decision list shows the pending decisions at the machine',
    });
  if (hash !== null && hash !== decision.hash)
    throw new SvcError('inputs_changed', `what would run does not match that hash`, { data });
  if (decision.approval === 'off' || !decision.workspace.channels.includes(CHANNEL)) throw notAllowed(data);
  if (verb === 'deny') return decision;
  if (decision.approval === 'untrusted') throw untrusted(data);
  if (decision.approval === 'code') throw codeWanted(data);
  return decision;
}

type Data = SvcErrorOptions['data'];
const notAllowed = (data: Data) =>
  new SvcError('actor_denied', 'the workspace does not let this automation decide', {
    hint: 'server.decide of its svc.yaml lists who may, such as {n8n: [automation]}',
    data: { ...data },
  });
const untrusted = (data: Data) =>
  new SvcError('remote_untrusted', "the task's author is untrusted: it can only be denied from outside", {
    data: { ...data },
  });
const codeWanted = (data: Data) =>
  new SvcError('approval_required', 'approval requires a one-time code, which a person types on the page', {
    data: { ...data },
  });

/** Throws the workspace's refusal; nothing on success, or without an answer. */
export function checkOutcome(standing: KnownDecision): void {
  const said = readOutcome(standing);
  const data = { decision_id: standing.id };
  if (said === null || findVerdict(standing) !== null) return;
  switch (said.outcome) {
    case 'not_allowed':
    case 'actor_denied':
      throw notAllowed(data);
    case 'remote_untrusted':
      throw untrusted(data);
    case 'code_missing':
    case 'code_invalid':
    case 'code_closed':
      throw codeWanted(data);
    case 'changed':
      throw new SvcError('inputs_changed', 'what would run has changed, and nothing was started', {
        hint: 'needs_approval names the decision that replaced it',
        data,
      });
    case 'unknown_decision':
      throw new SvcError('not_found', `${standing.workspace.name} has no ${standing.id}`);
    case 'refused':
      throw new SvcError(
        isErrorCode(said.code) ? said.code : 'conflict',
        `the workspace could not do it: ${(said.code ?? 'no reason given').replaceAll('_', ' ')}`,
        { data },
      );
    default:
      throw new SvcError('conflict', `the workspace did not do it: ${said.outcome.replaceAll('_', ' ')}`, {
        data,
      });
  }
}
