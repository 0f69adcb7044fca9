import type { ReferenceEdge, ResolveStrategy } from '../edges.ts';
import type { ValueEvaluator } from './evaluation.ts';
import { type ResolvedValue, UNKNOWN_VALUE } from './values.ts';

/** The symbol that a reference leads to. */
export type FoundTarget = Pick<ReferenceEdge, 'to' | 'confidence' | 'strategy' | 'candidates' | 'others'>;

/** Creates the choice of the symbol that a value leads to. */
export function createTargetFinder({ settle }: Pick<ValueEvaluator, 'settle'>) {
  /** Returns the target of a call through a field: the member of the field's type, not the field. */
  function findHeld(value: ResolvedValue): ResolvedValue {
    const fact = value.is === 'symbol' ? value.file.facts.symbols[value.index] : undefined;
    if (value.is !== 'symbol' || fact?.kind !== 'field' || fact.type?.[0] === 'f') return value;
    const held = settle(value);
    return held.is === 'symbol' || held.is === 'function' ? held : UNKNOWN_VALUE;
  }

  /** Returns the symbol that all of several values lead to; otherwise the first function, as a guess. */
  function found(
    value: ResolvedValue,
    confidence: FoundTarget['confidence'],
    strategy: ResolveStrategy,
  ): FoundTarget | null {
    if (value.is !== 'either') {
      const to = target(value);
      return to === null ? null : { to, confidence, strategy, candidates: 1 };
    }
    const held = value.values.map(findHeld);
    const ways = new Map(
      held.flatMap((each) => {
        const to = target(each);
        return to === null ? [] : [[`${to.file} ${to.index}`, { to, each }] as const];
      }),
    );
    const all = [...ways.values()];
    const [first] = all.filter(({ each }) => !isField(each));
    if (first === undefined) return null;
    return {
      to: first.to,
      confidence: all.length === 1 ? confidence : 0.4,
      strategy,
      candidates: all.length,
    };
  }

  return { findHeld, found };
}

/** Returns the symbol itself; for a function known only by its type, the type, if it is named. */
function target(value: ResolvedValue): FoundTarget['to'] | null {
  if (value.is === 'symbol') return { file: value.file.id, index: value.index };
  return value.is === 'function' && value.named !== undefined
    ? { file: value.file.id, index: value.named }
    : null;
}

const isField = (value: ResolvedValue): boolean =>
  value.is === 'symbol' && value.file.facts.symbols[value.index]?.kind === 'field';
