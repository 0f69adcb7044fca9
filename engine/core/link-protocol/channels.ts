/** The ways by which a person outside of this machine can reach a decision. */
export const CHANNELS = ['page', 'telegram', 'slack', 'automation'] as const;
export type Channel = (typeof CHANNELS)[number];
