import type { Decision, Decisions } from '../board/decisions/index.ts';
import type { Tasks } from '../board/tasks/index.ts';
import type { Workflow } from '../board/workflow/index.ts';
import { type CallAuthor, mayAct, type OperationPolicy } from '../core/api/operation.ts';
import type { Clock } from '../core/base/clock.ts';
import { asSvcError } from '../core/base/errors.ts';
import { CHANNELS, type DecisionChannel } from '../core/link-protocol/channels.ts';
import {
  COMMAND_LIFE_MS,
  type CommandOutcome,
  type LinkCommand,
  type OutcomeWord,
} from '../core/link-protocol/messages.ts';
import { createSavepoint, type EventLog, type Storage } from '../storage/index.ts';
import { checkCode } from './check-code.ts';
import type { ServerConfig } from './config.ts';
import { isVouchedFor, shortName } from './outgoing.ts';
import type { LinkRows } from './rows.ts';

/** A server's clock may be ahead of its last report. */
const AHEAD_MS = 5 * 60_000;

export interface ApplyDeps {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  rows: LinkRows;
  tasks: Tasks;
  decisions: Decisions;
  workflow: Workflow;
  config(): { server: ServerConfig; policy: OperationPolicy };
  /** Throws `consent_missing` while no one has agreed to svc.yaml. */
  requireConsent(): void;
}

const makeOutcome = (outcome: OutcomeWord, more: Partial<CommandOutcome> = {}): CommandOutcome => ({
  outcome,
  session_id: null,
  decided_by: null,
  state: null,
  code: null,
  ...more,
});

const isChannel = (word: string | null): word is DecisionChannel => CHANNELS.some((each) => each === word);

/**
 * Applies or refuses a command of the linked server, once: its id, the decision and the dispatch are one transaction.
 * The server only carries requests; everything is checked here.
 */
export function createCommandApplier(deps: ApplyDeps) {
  const { storage, clock, rows, tasks, decisions, workflow } = deps;
  const savepoint = createSavepoint(storage.db);

  function findDecision(id: string | null): Decision | null {
    if (id === null || !/^d-[1-9]\d{0,14}$/.test(id)) return null;
    try {
      return decisions.get(id);
    } catch {
      return null;
    }
  }

  function decide(command: LinkCommand, offsetMs: number): CommandOutcome {
    const { verb, person, channel } = command;
    if (verb !== 'approve' && verb !== 'deny') return makeOutcome('unknown_verb');
    const age = clock.now() + offsetMs - Date.parse(command.at);
    if (!(age < COMMAND_LIFE_MS && age > -AHEAD_MS)) return makeOutcome('too_old');
    const { server, policy } = deps.config();
    const may =
      person !== null &&
      isChannel(channel) &&
      Object.hasOwn(server.decide, person) &&
      server.decide[person]?.includes(channel) === true;
    if (!may) return makeOutcome('not_allowed');
    const by: CallAuthor = { actor: `${person}@${channel}`, via: 'link' };
    if (!mayAct(policy, by.actor)) return makeOutcome('actor_denied');
    const decision = findDecision(command.decision_id);
    if (decision === null) return makeOutcome('unknown_decision');
    const { decisionId, state, decidedBy, sessionId } = decision;
    if (state !== 'pending')
      return makeOutcome('already_decided', {
        state,
        decided_by: shortName(decidedBy),
        session_id: sessionId,
      });
    if (decision.hash !== command.hash) return makeOutcome('changed', { state });
    if (verb === 'deny') {
      workflow.deny(decisionId, `denied by ${by.actor}`, by);
      return makeOutcome('denied', { state: 'denied' });
    }
    const task = tasks.get(decision.taskId);
    if (!isVouchedFor(task, tasks.readOrigin(task.taskId))) return makeOutcome('remote_untrusted', { state });
    deps.requireConsent();
    const refused = server.decide_code ? checkCode(deps, command.code, by) : null;
    if (refused !== null) return makeOutcome(refused, { state });
    const approved = savepoint(() => workflow.approve(decisionId, by));
    if (approved.replaced !== undefined) return makeOutcome('changed', { state: 'expired' });
    return makeOutcome('started', { state: 'approved', session_id: approved.decision.sessionId });
  }

  return {
    /**
     * Resolves with the outcome; for a known command with its first outcome.
     * @param offsetMs how far the server's clock is ahead
     */
    applyCommand: (command: LinkCommand, offsetMs: number): Promise<CommandOutcome> =>
      storage.write(() => {
        const known = rows.findOutcome(command.id);
        if (known !== null) return known;
        let outcome: CommandOutcome;
        try {
          outcome = decide(command, offsetMs);
        } catch (thrown) {
          const { code } = asSvcError(thrown);
          // A full disk is not an answer for a person: nothing was changed, and the command is sent again.
          if (code.startsWith('storage_') || code === 'internal' || !storage.db.inTransaction) throw thrown;
          outcome = makeOutcome('refused', { code, state: 'pending' });
        }
        rows.keepOutcome(command.id, outcome, clock.now());
        return outcome;
      }),
    /** Records the outcome of a command that decides nothing. */
    keepOutcome: (
      id: string,
      word: OutcomeWord,
      more: Partial<CommandOutcome> = {},
    ): Promise<CommandOutcome> =>
      storage.write(() => {
        const known = rows.findOutcome(id);
        const outcome = known ?? makeOutcome(word, more);
        if (known === null) rows.keepOutcome(id, outcome, clock.now());
        return outcome;
      }),
  };
}
