export type { StatsFigures } from './figures.ts';
export { statsOperations } from './operations.ts';
export type { StatsBooks, StatsDay } from './read-history.ts';
export { createStats, type Stats, type StatsReport } from './stats.ts';
