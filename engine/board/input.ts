import { z } from 'zod';
import type { Caller } from '../core/api/operation.ts';
import type { Decisions } from './decisions/index.ts';
import { type DispatchOptions, pickRequested, readDispatchOptions } from './dispatch-options.ts';

// Inputs shared by tasks and decisions.

export const id = z.string().min(1);
/** Exact ids; unknown ones are left out of the answer. */
export const ids = z.array(z.string()).max(1000).optional();
export const limit = z.int().min(1).max(100_000).optional();
/** The body of a task. */
export const body = z.string().max(4_000_000);
/** Hash of the inputs that a person saw for a task or decision. */
export const hash = z.string().optional();

/** Priority among the tasks that wait for a worker. */
export const PRIORITIES = { low: -1, normal: 0, high: 1 } as const;
export const priority = z.enum(['low', 'normal', 'high']).optional();

/** The options of a run that adds nothing to its task's open decision. */
export const plannedOptions = (
  decisions: Pick<Decisions, 'openOf' | 'boundTo'>,
  taskId: string,
  caller: Caller,
): DispatchOptions => {
  const open = decisions.openOf(taskId);
  const asked = open === null ? {} : decisions.boundTo(open.decisionId).options;
  return { ...asked, ...pickRequested(readDispatchOptions({}, caller)) };
};
