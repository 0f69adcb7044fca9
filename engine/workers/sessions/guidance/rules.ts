import type { Sentence } from '../../../core/base/sentence.ts';

/** The seats that have rules. */
export const GUIDED_SEATS = ['chair', 'worker', 'plain'] as const;
export type GuidedSeat = (typeof GUIDED_SEATS)[number];

/** The rules that agents are reminded of, each by the last part of its key, with its seats, in display order. */
export const GUIDANCE_RULES = {
  entry_chair: ['chair'],
  clarify_before_spawn: ['chair'],
  multiphase_tasks: ['chair'],
  workers_no_fanout: ['worker'],
  search_before_create: GUIDED_SEATS,
  lock_shared: GUIDED_SEATS,
  bus_only: GUIDED_SEATS,
  disk_memory: GUIDED_SEATS,
  crush: GUIDED_SEATS,
  externalize: GUIDED_SEATS,
  auto_gateway: GUIDED_SEATS,
} as const satisfies Record<string, readonly GuidedSeat[]>;

export type GuidanceRule = keyof typeof GUIDANCE_RULES;

/** Rules with keys below `context.guidance`, which have further effects; the others' are below `chair.guidance`. */
export const CONTEXT_RULES = [
  'crush',
  'externalize',
  'auto_gateway',
] as const satisfies readonly GuidanceRule[];
export type ContextRule = (typeof CONTEXT_RULES)[number];
export type ChairRule = Exclude<GuidanceRule, ContextRule>;

const isContextRule = (rule: GuidanceRule): rule is ContextRule =>
  (CONTEXT_RULES as readonly GuidanceRule[]).includes(rule);

/** Returns the key of svc.yaml that turns a rule off. */
export const keyOfRule = (rule: GuidanceRule): string =>
  `${isContextRule(rule) ? 'context' : 'chair'}.guidance.${rule}`;

/** The rules in one language. */
export type GuidanceTexts = Readonly<Record<GuidanceRule, Sentence>>;
