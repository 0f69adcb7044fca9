/** The channels by which a person outside this machine can reach a decision. */
export const CHANNELS = ['page', 'telegram', 'slack', 'automation'] as const;
export type DecisionChannel = (typeof CHANNELS)[number];
