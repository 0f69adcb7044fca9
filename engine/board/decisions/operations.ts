import { z } from 'zod';
import { SvcError } from '../../errors.ts';
import { by, type Operation, operation } from '../../operation.ts';
import type { BoardOperationsDeps } from '../deps.ts';
import { body, dispatchInput, hash, id, ids, limit, optionsOf, plannedOptions } from '../input.ts';
import { checkNotReplaced } from '../workflow/index.ts';
import { DECISION_STATES, type Decision } from './index.ts';

/** A decision in a list. */
export interface ListedDecision extends Decision {
  /** Of its task. */
  title: string;
}

/** What clients may ask about decisions. */
export function decisionOperations({
  storage,
  tasks,
  decisions,
  workflow,
  plans,
}: BoardOperationsDeps): Operation[] {
  /** The decision, if it is about what whoever calls has seen. */
  function seen(input: { id: string; hash?: string | undefined }): Decision {
    const decision = decisions.resolve(input.id);
    if (input.hash === undefined || input.hash === decision.hash) return decision;
    throw new SvcError('conflict', `${decision.decisionId} is not what you saw`, {
      hint: `svc decision show ${decision.decisionId}`,
    });
  }

  return [
    operation({
      name: 'decision.list',
      about: 'Decisions; pending ones oldest first. `ids` names the wanted ones.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ state: z.enum(DECISION_STATES).optional(), ids, limit }),
      run: (input) =>
        decisions
          .list(input)
          .map((decision): ListedDecision => ({ ...decision, title: tasks.get(decision.taskId).title })),
    }),
    operation({
      name: 'decision.show',
      about: 'One decision with its task, and what a run of that would do now.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ id }),
      async run(input, caller) {
        const decision = decisions.resolve(input.id);
        const task = tasks.get(decision.taskId);
        const isOpen = decisions.openOf(task.taskId)?.decisionId === decision.decisionId;
        return {
          decision,
          task,
          plan: await plans.of(task, plannedOptions(decisions, task.taskId, caller)),
          // What an approval would be refused for.
          changes: isOpen ? workflow.changesSince(decision) : [],
        };
      },
    }),
    operation({
      name: 'decision.approve',
      about: 'Approve and dispatch. With `hash`, only if it still says what will run.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id, hash, ...dispatchInput }),
      run: async (input, caller) =>
        checkNotReplaced(
          await storage.write(() => {
            const { decisionId } = seen(input);
            return workflow.approve(decisionId, by(caller), optionsOf(input, caller));
          }),
        ),
    }),
    operation({
      name: 'decision.deny',
      about: 'Deny, with a reason; the task fails with code denied.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id, reason: z.string().trim().min(1).max(2000) }),
      run: (input, caller) =>
        storage.write(() => workflow.deny(decisions.resolve(input.id).decisionId, input.reason, by(caller))),
    }),
    operation({
      name: 'decision.edit',
      about:
        'Replace the prompt of a task that waits; a new decision waits in place of this one. With `hash`, only if it still says what will run.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id, hash, prompt: body.regex(/\S/, 'is empty') }),
      run: (input, caller) =>
        storage.write(() => workflow.edit(seen(input).decisionId, input.prompt, by(caller))),
    }),
  ];
}
