import type { Sentence } from '../../base/sentence.ts';

/** The seats that are told rules. */
export const GUIDED_SEATS = ['chair', 'worker', 'plain'] as const;
export type GuidedSeat = (typeof GUIDED_SEATS)[number];

/** The rules that agents are reminded of, each by its key below `chair.guidance`, with the seats that hear it, in the order they are told. */
export const GUIDANCE_RULES = {
  entry_chair: ['chair'],
  clarify_before_spawn: ['chair'],
  multiphase_tasks: ['chair'],
  workers_no_fanout: ['worker'],
  search_before_create: GUIDED_SEATS,
  lock_shared: GUIDED_SEATS,
  bus_only: GUIDED_SEATS,
  disk_memory: GUIDED_SEATS,
} as const satisfies Record<string, readonly GuidedSeat[]>;

export type GuidanceRule = keyof typeof GUIDANCE_RULES;

/** The rules in one language. */
export type GuidanceTexts = Readonly<Record<GuidanceRule, Sentence>>;
