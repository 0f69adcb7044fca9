import type { ValueEvaluator } from './evaluation.ts';
import { symbolAt } from './project.ts';
import type { ResolvedValue } from './values.ts';

/**
 * How well an argument fits a parameter: not at all; perhaps, as something is unknown; as anything would; by a
 * conversion or a base; exactly.
 */
export type ArgumentFit = 0 | 1 | 2 | 3 | 4;

/** Numbers by size: each may be used for a larger one. */
const NUMBERS = ['byte', 'short', 'int', 'long', 'float', 'double'];
const PRIMITIVES = new Set([...NUMBERS, 'char', 'boolean']);
const ROOTS = new Set(['object', 'any', 'anyobject', 'dynamic']);
/** Other names of the same types, in lower case. */
const SAME: Readonly<Record<string, string>> = {
  bool: 'boolean',
  'std::string': 'string',
  'char*': 'string',
};
const BOXES: Readonly<Record<string, string>> = { Integer: 'int', Character: 'char' };
const BOX_NAMES = new Set(['Integer', 'Character', 'Long', 'Short', 'Byte', 'Float', 'Double', 'Boolean']);
const OF_STRINGS = /^(?:CharSequence|Comparable|Serializable|Constable|ConstantDesc)$/;
const OF_NUMBERS = /^(?:Number|Comparable|Serializable|Constable|ConstantDesc)$/;
const OF_COLLECTIONS = new Set(['Collection', 'Iterable', 'Sequence', 'IEnumerable']);
const MOST_BASES = 12;

/** Creates the comparison of arguments with the parameters of functions. @param language of the call */
export function createArgumentFitting(types: Pick<ValueEvaluator, 'evaluateType'>) {
  /** Follows the bases of a class: true if it finds the wanted one, null if an external base may have it. */
  function hasBase(
    value: Extract<ResolvedValue, { is: 'instance' }>,
    isWanted: (base: ResolvedValue) => boolean,
  ): boolean | null {
    let isClosed = true;
    const waiting: ResolvedValue[] = [value];
    for (let steps = 0; steps < MOST_BASES; steps += 1) {
      const at = waiting.shift();
      if (at === undefined) return isClosed ? false : null;
      if (at.is !== 'instance') {
        isClosed = false;
        continue;
      }
      for (const type of symbolAt(at.file, at.index).bases ?? []) {
        const base = types.evaluateType(at.file, type);
        if (isWanted(base)) return true;
        waiting.push(base);
      }
    }
    return null;
  }

  function fitInstance(
    value: Extract<ResolvedValue, { is: 'instance' }>,
    param: ResolvedValue,
    isStrict: boolean,
  ): ArgumentFit {
    if (param.is === 'instance') {
      if (value.file.id === param.file.id && value.index === param.index) return 4;
      const { file, index } = param;
      const isBelow = hasBase(
        value,
        (base) => base.is === 'instance' && base.file.id === file.id && base.index === index,
      );
      return isBelow === true ? 3 : isBelow === null || !isStrict ? 1 : 0;
    }
    if (param.is === 'many') return isStrict && param.name === undefined ? 0 : 1;
    if (param.is !== 'outside' || param.name === undefined) return 1;
    const name = simplify(param.name);
    if (ROOTS.has(name)) return 2;
    if (PRIMITIVES.has(name) || name === 'string' || BOX_NAMES.has(param.name)) return isStrict ? 0 : 1;
    const isBelow = hasBase(value, (base) => base.is === 'outside' && base.name === param.name);
    return isBelow === true ? 3 : isBelow === null || !isStrict ? 1 : 0;
  }

  /** Compares an argument with a parameter. @param language of the called function */
  function fitArgument(value: ResolvedValue, param: ResolvedValue, language: string): ArgumentFit {
    // C++ converts by constructors and operators.
    const isStrict = language !== 'cpp';
    if (value.is === 'either' || param.is === 'either' || value.is === 'unknown' || param.is === 'unknown')
      return 1;
    if (value.is === 'instance') return fitInstance(value, param, isStrict);
    if (value.is === 'many') return fitCollection(value, param, language, fitArgument);
    if (value.is !== 'outside' || value.name === undefined) return 1;
    if (value.name === '=>') return fitFunction(param);
    if (value.name === 'null') return param.is === 'outside' && isPrimitive(param.name, language) ? 0 : 1;
    if (param.is === 'instance') {
      const isValue = isPrimitive(value.name, language) || simplify(value.name) === 'string';
      return isValue && isStrict ? 0 : 1;
    }
    if (param.is === 'many')
      return ROOTS.has(simplify(value.name)) || !isStrict ? 1 : param.name === undefined ? 0 : 1;
    return param.is === 'outside' && param.name !== undefined
      ? fitNames(value.name, param.name, language)
      : 1;
  }

  return fitArgument;
}

const simplify = (name: string): string => {
  const boxed = BOXES[name] ?? name;
  const lower = boxed.toLowerCase();
  return SAME[lower] ?? lower;
};

/** In Java a boxed number is another type; elsewhere `Int` is the number. */
const isPrimitive = (name: string | undefined, language: string): boolean =>
  name !== undefined && PRIMITIVES.has(simplify(name)) && (language !== 'java' || !BOX_NAMES.has(name));

/** A function fits everything that is not a value. */
function fitFunction(param: ResolvedValue): ArgumentFit {
  if (param.is === 'many') return 0;
  if (param.is === 'instance') return symbolAt(param.file, param.index).kind === 'class' ? 0 : 1;
  if (param.is !== 'outside' || param.name === undefined) return 1;
  const name = simplify(param.name);
  return PRIMITIVES.has(name) || name === 'string' || name === 'class' || ROOTS.has(name) ? 0 : 1;
}

function fitCollection(
  value: Extract<ResolvedValue, { is: 'many' }>,
  param: ResolvedValue,
  language: string,
  fitArgument: (value: ResolvedValue, param: ResolvedValue, language: string) => ArgumentFit,
): ArgumentFit {
  if (param.is === 'many') {
    // Without a name it is an array.
    if (value.name === undefined && param.name === undefined) {
      const fit = fitArgument(value.of, param.of, language);
      const isExact = [value.of, param.of].some(
        (of) => of.is === 'outside' && isPrimitive(of.name, language),
      );
      return isExact && fit !== 4 ? (fit === 1 ? 1 : 0) : fit;
    }
    if (value.name === undefined || param.name === undefined) return language === 'java' ? 0 : 1;
    if (value.name === param.name) return 4;
    return OF_COLLECTIONS.has(param.name) ? 3 : 1;
  }
  if (param.is !== 'outside' || param.name === undefined) return 1;
  if (ROOTS.has(simplify(param.name))) return 2;
  if (isPrimitive(param.name, language) || simplify(param.name) === 'string')
    return language === 'cpp' ? 1 : 0;
  return value.name === undefined && language === 'java' ? 0 : 1;
}

/** Compares two external types by their names. */
function fitNames(value: string, param: string, language: string): ArgumentFit {
  const [one, other] = [simplify(value), simplify(param)];
  const [isNumber, isWantedNumber] = [isPrimitive(value, language), isPrimitive(param, language)];
  if (one === other && isNumber === isWantedNumber) return 4;
  if (ROOTS.has(other)) return 2;
  if (one === other) return 2;
  if (ROOTS.has(one)) return language === 'java' || language === 'kotlin' ? 0 : 1;
  if (isNumber && isWantedNumber) return fitNumbers(one, other, language);
  if (isNumber) {
    if (OF_NUMBERS.test(param)) return 2;
    // An external type of any other name may be an alias or a wrapper, except where it is known to be none.
    return language === 'cpp' || language === 'csharp'
      ? 1
      : other === 'string' || language === 'java'
        ? 0
        : 1;
  }
  if (isWantedNumber)
    return BOX_NAMES.has(value) ? fitNumbers(one, other, language) : language === 'cpp' ? 1 : 0;
  if (one === 'string')
    return OF_STRINGS.test(param) ? 3 : language === 'java' || language === 'kotlin' ? 0 : 1;
  if (BOX_NAMES.has(value)) return OF_NUMBERS.test(param) ? 3 : 0;
  return other === 'string' || BOX_NAMES.has(param) ? (language === 'java' ? 0 : 1) : 1;
}

function fitNumbers(one: string, other: string, language: string): ArgumentFit {
  const [from, to] = [one === 'char' ? 1 : NUMBERS.indexOf(one), NUMBERS.indexOf(other)];
  if (from >= 0 && to > from) return 3;
  // A constant may be narrower in C#, and everything converts in C++.
  return language === 'java' || language === 'kotlin' ? 0 : 1;
}
