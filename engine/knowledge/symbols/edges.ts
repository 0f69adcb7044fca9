import type { ReferenceKind } from './facts.ts';

/** How an edge was found, most certain first; `exact` by the project's own compiler. An `overload` may be
 * any of the candidates: functions of one name, of which the first one that fits stands for all. */
export const STRATEGIES = [
  'local',
  'import',
  'package',
  'self',
  'type',
  'alias',
  'name',
  'exact',
  'overload',
] as const;

export type ResolveStrategy = (typeof STRATEGIES)[number];

/** A reference to a symbol of the project. */
export interface ReferenceEdge {
  /** Index of the enclosing symbol. */
  from: number;
  to: { file: number; index: number };
  kind: ReferenceKind;
  line: number;
  /** 1 by package or file, 0.7 by the receiver's type, 0.4 by its name alone. */
  confidence: 1 | 0.7 | 0.4;
  strategy: ResolveStrategy;
  /** Number of candidate symbols. */
  candidates: number;
  /** The other overloads that fit. */
  others?: ReferenceEdge['to'][];
}
