import { z } from 'zod';
import { cursor } from '../../core/api/cursor.ts';
import { by, type Caller, checkOwnTask, operation } from '../../core/api/operation.ts';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import { countUnseen } from '../../core/base/text.ts';
import { DECISION_STATES, type Decision } from '../decisions/index.ts';
import { dispatchInput, readDispatchOptions } from '../dispatch-options.ts';
import { body, hash, id, ids, limit, plannedOptions } from '../input.ts';
import { checkNotReplaced } from '../workflow/index.ts';
import type { BoardOperationsDeps } from './deps.ts';

/** A decision in a list. */
export interface ListedDecision extends Decision {
  /** The title of its task. */
  title: string;
  stranger: string | null;
  /** Number of invisible characters in its prompt. */
  unseen: number;
}

/** Operations on decisions. */
export const decisionOperations = (deps: BoardOperationsDeps) => [
  ...decisionListOperations(deps),
  ...decisionAnswerOperations(deps),
];

/** Operations that list and show decisions. */
const decisionListOperations = ({ tasks, decisions, workflow, plans }: BoardOperationsDeps) => [
  operation({
    name: 'decision.list',
    about: 'Decisions; pending ones oldest first. `ids` selects some.',
    seat: 'trusted',
    changes: false,
    input: z.strictObject({ state: z.enum(DECISION_STATES).optional(), ids, limit, cursor }),
    run: (input) =>
      decisions.list(input).map((decision): ListedDecision => {
        const { title, stranger, prompt } = tasks.get(decision.taskId);
        return { ...decision, title, stranger, unseen: countUnseen(prompt) };
      }),
  }),
  operation({
    name: 'decision.count',
    about: 'The number of decisions, in all or in one state.',
    seat: 'trusted',
    changes: false,
    input: z.strictObject({ state: z.enum(DECISION_STATES).optional() }),
    run: ({ state }) => decisions.count(state),
  }),
  operation({
    name: 'decision.show',
    about: 'One decision with its task, and what a run of the task would do now.',
    seat: 'any',
    changes: false,
    input: z.strictObject({ id }),
    async run(input, caller) {
      const decision = decisions.resolve(input.id);
      checkOwnTask(caller, decision.taskId, decision.decisionId);
      const task = tasks.get(decision.taskId);
      const isOpen = decisions.openOf(task.taskId)?.decisionId === decision.decisionId;
      return {
        decision,
        task,
        plan: await plans.of(task, plannedOptions(decisions, task.taskId, caller)),
        // The problem that an approval would fail with.
        changes: isOpen ? workflow.changesSince(decision) : [],
      };
    },
  }),
];

/** Operations that answer decisions, and change what they ask. */
function decisionAnswerOperations({ tasks, decisions, workflow, checkConfinement }: BoardOperationsDeps) {
  /** Finds the decision, if it matches what the caller has seen. */
  function findSeen(input: { id: string; hash?: string | undefined }): Decision {
    const decision = decisions.resolve(input.id);
    if (input.hash === undefined || input.hash === decision.hash) return decision;
    throw new SvcError('conflict', `${decision.decisionId} has changed since you looked at it`, {
      hint: sentence`{decision.show ${decision.decisionId}}`,
    });
  }

  return [
    operation({
      name: 'decision.approve',
      about:
        'Approve and dispatch. With `hash`, only if it still matches what will run. A task from an untrusted author runs confined; if confinement is impossible, `unconfined` is its task id, typed by a person.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id, hash, unconfined: z.string().optional(), ...dispatchInput }),
      async run(input, caller, call) {
        const approve = async (unconfined: boolean) =>
          checkNotReplaced(
            await call.begin(() => {
              const { decisionId } = findSeen(input);
              return workflow.approve(decisionId, by(caller), {
                ...readDispatchOptions(input, caller),
                unconfined,
              });
            }),
          );
        if (call.begun() !== undefined) return approve(false);
        const decision = findSeen(input);
        const { taskId } = decision;
        if (tasks.get(taskId).stranger !== null)
          return approve(await mayRunUnconfined(checkConfinement, decision, input.unconfined, caller));
        if (input.unconfined === undefined) return approve(false);
        throw new SvcError(
          'usage',
          `${taskId} does not come from an untrusted author: it needs no other approval`,
        );
      },
    }),
    operation({
      name: 'decision.deny',
      about: 'Deny, with a reason; the task fails with code denied.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id, reason: z.string().trim().min(1).max(2000) }),
      run: (input, caller, call) =>
        call.finish(() => workflow.deny(decisions.resolve(input.id).decisionId, input.reason, by(caller))),
    }),
    operation({
      name: 'decision.edit',
      about:
        'Replace the prompt of a waiting task; a new decision replaces this one. With `hash`, only if it still matches what will run.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id, hash, prompt: body.regex(/\S/, 'is empty') }),
      run: (input, caller, call) =>
        call.finish(() => workflow.edit(findSeen(input).decisionId, input.prompt, by(caller))),
    }),
  ];
}

/**
 * Checks that a task from an untrusted author may run without a sandbox, which only a person at a terminal can
 * request, and only if none can be set up. Throws `confinement_unavailable`, `tool_missing`, `approval_required`,
 * `usage`.
 */
async function mayRunUnconfined(
  checkConfinement: BoardOperationsDeps['checkConfinement'],
  { taskId, decisionId }: Decision,
  typed: string | undefined,
  caller: Caller,
): Promise<boolean> {
  const problem = await checkConfinement().then(() => null, asSvcError);
  if (problem === null && typed === undefined) return false;
  if (problem === null)
    throw new SvcError('usage', `workers can be confined here, so ${taskId} runs confined`, {
      hint: sentence`{decision.approve ${decisionId}}`,
    });
  if (typed === undefined)
    throw new SvcError(
      problem.code,
      `${taskId} comes from an untrusted author, so it only runs confined: ${problem.message}`,
      {
        hint: sentence`{decision.deny ${decisionId}}; or make strict runs possible (docs/operate/confinement.md); or read the prompt, and at a terminal {decision.approve ${decisionId} unconfined=true}`,
      },
    );
  if (typed === taskId && caller.via !== 'tool') return true;
  throw new SvcError(
    'approval_required',
    `to run ${taskId} unconfined, a person types its id at a terminal`,
    {
      hint: sentence`{decision.approve ${decisionId} unconfined=true}`,
    },
  );
}
