import * as z from 'zod';
import { parseDuration, refineWith } from '../../core/base/values/duration.ts';

/** Null for `never`. Throws `config_invalid`. */
const parseAge = (text: string): number | null => (text === 'never' ? null : parseDuration(text));

const ageKey = (standard: string, description: string) =>
  z.string().superRefine(refineWith(parseAge)).default(standard).meta({
    consent: true,
    notation: 'string',
    description,
    unset: standard,
  });

/** The `retain` section: when finished data is removed, once a day. */
export const retainSchema = z.strictObject({
  events: ageKey(
    '180d',
    'Age at which events are removed, except events of tasks that have not ended; or never.',
  ),
  tasks: ageKey(
    '365d',
    'Time after its end at which a task is removed with its decisions and sessions, unless some of its work is unmerged; or never.',
  ),
  logs: ageKey(
    '90d',
    'Time after its end at which the folder of a session is removed with its log, unless its work is unmerged; or never.',
  ),
  refs: ageKey(
    '90d',
    'Time after its removal at which the saved commits of a merged branch (refs/svc/pruned) are removed; or never.',
  ),
  discarded: ageKey('30d', 'How long discarded work can be restored; never means permanently. At least 1d.'),
});

export type RetainSection = z.output<typeof retainSchema>;

const DAY_MS = 86_400_000;

/** The maximum age, ms; null for unlimited. */
export interface RetentionAges {
  events: number | null;
  tasks: number | null;
  logs: number | null;
  refs: number | null;
  discarded: number | null;
}

/** The `retain` section as numbers. */
export function readRetentionAges(retain: RetainSection): RetentionAges {
  const discarded = parseAge(retain.discarded);
  return {
    events: parseAge(retain.events),
    tasks: parseAge(retain.tasks),
    logs: parseAge(retain.logs),
    refs: parseAge(retain.refs),
    discarded: discarded === null ? null : Math.max(discarded, DAY_MS),
  };
}
