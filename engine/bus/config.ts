import * as z from 'zod';
import { durationKey, parseDuration } from '../core/base/values/duration.ts';

/** The `bus` section: how long messages and their traces are kept. */
export const busSchema = z.strictObject({
  retain_acked: durationKey().default('24h').meta({
    notation: 'string',
    description: 'Age at which an acknowledged message is removed.',
    unset: '24h',
  }),
  retain_unread: durationKey().default('168h').meta({
    notation: 'string',
    description: 'Age at which an unread message is removed; unread alerts never are.',
    unset: '168h',
  }),
  max_acked: z.int().min(0).default(200).meta({
    notation: '*int',
    description: 'Maximum number of acknowledged messages to keep.',
    unset: '200; an explicit 0 means unlimited',
  }),
  log_max_bytes: z.int().min(0).default(524_288).meta({
    notation: '*int64',
    description: 'Size in bytes at which a log is rotated.',
    unset: '524288; an explicit 0 means unlimited',
  }),
  notices_retain: durationKey()
    .default('24h')
    .meta({ notation: 'string', description: 'Age at which a delivered notice is removed.', unset: '24h' }),
  surfaced_retain: durationKey().default('48h').meta({
    notation: 'string',
    description: 'Age at which the list of messages that a hook has already shown is removed.',
    unset: '48h',
  }),
});

/** The `asks` section: questions of agents. */
export const asksSchema = z.strictObject({
  on_timeout: z.enum(['pause', 'fail']).default('pause').meta({
    notation: 'string',
    description:
      'The fate of a worker whose question no one has answered in its usual time (600 s): with pause its processes end until the answer arrives, and its conversation then resumes; with fail the question times out. A question with its own timeout_sec always times out.',
    unset: 'pause',
  }),
});

export type BusSection = z.output<typeof busSchema>;
export type AsksSection = z.output<typeof asksSchema>;

/** The `bus` section as numbers: ms, bytes, counts. */
export const readBusLimits = (section: BusSection) => ({
  retainAckedMs: parseDuration(section.retain_acked),
  retainUnreadMs: parseDuration(section.retain_unread),
  noticesRetainMs: parseDuration(section.notices_retain),
  surfacedRetainMs: parseDuration(section.surfaced_retain),
  maxAcked: section.max_acked,
  logMaxBytes: section.log_max_bytes,
});

export type BusLimits = ReturnType<typeof readBusLimits>;
