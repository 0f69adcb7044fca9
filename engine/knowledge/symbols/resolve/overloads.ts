import {
  type ExpressionFact,
  isFunction,
  MANY_ARGUMENTS,
  type ReferenceKind,
  type SymbolFact,
} from '../facts.ts';
import { takesArguments } from '../overloads.ts';
import { type ArgumentFit, createArgumentFitting } from './argument-types.ts';
import type { ValueEvaluator } from './evaluation.ts';
import { type FileView, type GraphProject, symbolAt } from './project.ts';
import type { FoundTarget } from './reference-target.ts';
import type { ResolvedValue } from './values.ts';

interface Overload {
  view: FileView;
  index: number;
}

/** An overload with its fit for each argument. */
interface RatedOverload extends Overload {
  fits: readonly ArgumentFit[];
  params: readonly ResolvedValue[];
  isVariadic: boolean;
}

const MOST_LEVELS = 8;

/** Creates the choice among overloads by the number and the types of the arguments. */
export function createOverloadChooser(project: GraphProject, evaluator: ValueEvaluator) {
  const { evaluate, evaluateType, settle } = evaluator;
  const fitArgument = createArgumentFitting(evaluator);

  const readArguments = (file: FileView, args: readonly ExpressionFact[]): ResolvedValue[] =>
    args.map((each) => {
      const value = evaluate(file, each);
      return value.is === 'symbol' ? settle(value) : value;
    });

  const listOwn = (view: FileView, parent: number, name: string): Overload[] =>
    (view.members.get(parent)?.get(name) ?? [])
      .filter((index) => isFunction(symbolAt(view, index)))
      .map((index) => ({ view, index }));

  /** Returns the overloads that take that many arguments: of a class, otherwise of the nearest base that has some. */
  function listFitting(view: FileView, fact: SymbolFact, given: number): Overload[] {
    const { name } = fact;
    let level: { view: FileView; parent: number }[] = [{ view, parent: fact.parent }];
    for (let depth = 0; depth < MOST_LEVELS && level.length > 0; depth += 1) {
      const fitting = level
        .flatMap((at) => listOwn(at.view, at.parent, name))
        .filter((each) => {
          const other = symbolAt(each.view, each.index);
          return takesArguments(other, given) && isSameGroup(fact, other, given);
        });
      if (fitting.length > 0) return fitting;
      level = level.flatMap((at) =>
        (symbolAt(at.view, at.parent).bases ?? []).flatMap((type) => {
          const base = evaluateType(at.view, type);
          return base.is === 'instance' ? [{ view: base.file, parent: base.index }] : [];
        }),
      );
    }
    return [];
  }

  function readParameter({ view, index }: Overload, at: number): ResolvedValue {
    const { params = [], arity, receiver } = symbolAt(view, index);
    const isMany = arity?.[1] === MANY_ARGUMENTS;
    const last = params.length - 1;
    const type = at < 0 ? receiver : isMany && at >= last ? params[last] : params[at];
    if (type === undefined) return { is: 'unknown' };
    // A type parameter without a bound fits anything.
    if (type[0] === '?' && type[1] !== undefined) return { is: 'outside', name: 'Object' };
    const value = evaluateType(view, type);
    return isMany && at >= last && value.is === 'many' ? value.of : value;
  }

  function rate(each: Overload, values: readonly ResolvedValue[]): RatedOverload {
    const { language } = each.view;
    const { arity, params: declared = [], receiver } = symbolAt(each.view, each.index);
    // `A.f(b, 1)` of C# gives the extended object as an argument.
    const shift = receiver !== undefined && values.length > declared.length ? 1 : 0;
    const params = values.map((_, at) => readParameter(each, at - shift));
    const { labels } = symbolAt(each.view, each.index);
    const fits = values.map((value, at): ArgumentFit => {
      if (labels !== undefined && value.is === 'outside' && value.name?.startsWith(':'))
        return value.name === `:${labels[at]}` ? 4 : 0;
      const fit = fitArgument(value, params[at]!, language);
      const isLast =
        arity?.[1] === MANY_ARGUMENTS && at === declared.length - 1 && values.length === declared.length;
      // The whole list may be given as one argument.
      return isLast
        ? (Math.max(fit, fitArgument(value, evaluateType(each.view, declared[at]!), language)) as ArgumentFit)
        : fit;
    });
    return { ...each, fits, params, isVariadic: arity?.[1] === MANY_ARGUMENTS };
  }

  /** Reports whether one overload is chosen over another: it fits each known argument as well or better, and one better. */
  function isBetter(one: RatedOverload, other: RatedOverload): boolean {
    let isAbove = false;
    for (const [at, fit] of one.fits.entries()) {
      const against = other.fits[at]!;
      if (fit > against && fit > 1) isAbove = true;
      else if (fit !== against) return false;
      else if (!isSameType(one.params[at]!, other.params[at]!)) {
        if (fit === 1) return false;
        const { language } = one.view;
        const [forth, back] = [
          fitArgument(one.params[at]!, other.params[at]!, language),
          fitArgument(other.params[at]!, one.params[at]!, language),
        ];
        if (forth < 2 || forth < back) return false;
        if (forth > back) isAbove = true;
      }
    }
    return isAbove || (other.isVariadic && !one.isVariadic);
  }

  function narrow(all: readonly Overload[], values: readonly ResolvedValue[]): Overload[] {
    const rated = all.map((each) => rate(each, values)).filter(({ fits }) => !fits.includes(0));
    // Nothing fits if a type was misread.
    if (rated.length === 0) return [...all];
    const best = rated.find((one) => rated.every((other) => one === other || isBetter(one, other)));
    if (best !== undefined) return [best];
    return rated.filter((one) => !rated.some((other) => other !== one && isBetter(other, one)));
  }

  /** Returns the constructor that a call of a class chooses; the class itself if it has only one, or it is not known. */
  function chooseConstructor(
    view: FileView,
    way: FoundTarget,
    file: FileView,
    args: readonly ExpressionFact[],
  ): FoundTarget {
    const all = listOwn(view, way.to.index, 'constructor');
    if (all.length < 2) return way;
    const fitting = all.filter((each) => takesArguments(symbolAt(view, each.index), args.length));
    const [only, more] = narrow(fitting, readArguments(file, args));
    return only === undefined || more !== undefined
      ? way
      : { ...way, to: { file: view.id, index: only.index } };
  }

  /** Returns the overload that a call means; with several that fit, the first of them as one edge for all; null for none. */
  return (
    file: FileView,
    way: FoundTarget,
    kind: ReferenceKind,
    args: readonly ExpressionFact[],
  ): FoundTarget | null => {
    const view = project.view(way.to.file);
    if (view === null || (kind !== 'call' && kind !== 'new')) return way;
    const fact = symbolAt(view, way.to.index);
    if (fact.kind === 'class' || fact.kind === 'enum') return chooseConstructor(view, way, file, args);
    if (!isFunction(fact)) return way;
    const own = listOwn(view, fact.parent, fact.name);
    if (own.length < 2 && takesArguments(fact, args.length)) return way;
    const fitting = listFitting(view, fact, args.length);
    // Overloads may be external, as those of a base; other grammars leave doubt about the number of parameters.
    if (fitting.length === 0) return IS_COUNTED.has(view.language) ? null : way;
    const left = fitting.length === 1 ? fitting : narrow(fitting, readArguments(file, args));
    const [to, ...others] = left.map((each) => ({ file: each.view.id, index: each.index })) as [
      FoundTarget['to'],
    ];
    if (others.length === 0) return { ...way, to };
    const confidence = way.confidence === 1 ? 0.7 : way.confidence;
    return { to, others, confidence, strategy: 'overload', candidates: left.length };
  };
}

/** Reports whether two functions of one name belong to the same type, or extend the same one. */
function isSameGroup(one: SymbolFact, other: SymbolFact, given: number): boolean {
  if (one.owner !== other.owner) return false;
  if (one.receiver === undefined || other.receiver === undefined) return one.receiver === other.receiver;
  // Called through its class, a C# function gets the object as an argument, which chooses.
  return given > (one.params?.length ?? 0) || JSON.stringify(one.receiver) === JSON.stringify(other.receiver);
}

const IS_COUNTED: ReadonlySet<string> = new Set(['java', 'csharp']);

function isSameType(one: ResolvedValue, other: ResolvedValue): boolean {
  if (one.is !== other.is) return false;
  if (one.is === 'instance' && other.is === 'instance')
    return one.file.id === other.file.id && one.index === other.index;
  if (one.is === 'many' && other.is === 'many')
    return one.name === other.name && isSameType(one.of, other.of);
  return one.is === 'outside' && other.is === 'outside' && one.name !== undefined && one.name === other.name;
}
