import { z } from 'zod';
import { operation } from '../../core/api/operation.ts';
import type { HookEvent } from '../../workers/agents/presets/index.ts';
import type { Hooks } from './hooks.ts';

const EVENTS = [
  'pre-write',
  'post-tool',
  'pre-compact',
  'session-start',
] as const satisfies readonly HookEvent[];

const plannedWrite = z.strictObject({
  path: z.string().min(1),
  removed: z.boolean().optional(),
  text: z.string().optional(),
  edits: z
    .array(z.strictObject({ old: z.string(), new: z.string(), all: z.boolean() }))
    .max(10_000)
    .optional(),
});

/** Creates the operation that `svc hook` calls. */
export const hookOperations = (hooks: Hooks) => [
  operation({
    name: 'hook.look',
    about:
      'Text for an agent at a given point of its work: why a write must not happen, and other facts. Messages are shown once.',
    seat: 'any',
    // As with message.surface: showing changes no state.
    changes: false,
    input: z.strictObject({
      event: z.enum(EVENTS),
      agent: z.string().max(100),
      cwd: z.string(),
      paths: z.array(z.string().min(1)).max(1000),
      tool: z.string().nullable(),
      writes: z.array(plannedWrite).max(1000).default([]),
      carries: z.boolean().default(true),
      output_bytes: z.int().min(0).optional(),
    }),
    run: ({ output_bytes: outputBytes = null, ...input }, caller) =>
      hooks.look({ ...input, outputBytes, caller }),
  }),
];
