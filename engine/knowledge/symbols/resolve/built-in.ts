import type { SourceLanguage } from '../../sources/index.ts';
import { joinValues, OUTSIDE_VALUE, type ResolvedValue, UNKNOWN_VALUE } from './values.ts';

const COLLECTIONS = new Set(
  'Array ReadonlyArray Set ReadonlySet WeakSet Iterable Iterator IterableIterator AsyncIterable AsyncIterator AsyncIterableIterator Generator AsyncGenerator ArrayLike List list Sequence Iterable Vec VecDeque Option Result Optional set Collection Stream IEnumerable IList'.split(
    ' ',
  ),
);
const MAPS = new Set('Map ReadonlyMap WeakMap HashMap BTreeMap Dict dict Dictionary'.split(' '));
const SAME = new Set(
  'Readonly Partial Required NonNullable Pick Omit Awaited Extract Exclude NoInfer InstanceType DeepReadonly Box Rc Arc Final ClassVar Annotated'.split(
    ' ',
  ),
);
const PROMISES = new Set('Promise PromiseLike Task Future CompletableFuture Awaitable Coroutine'.split(' '));

/** Returns the value of a generic built-in type for its arguments; null if unknown. */
export function findBuiltInType(
  language: SourceLanguage,
  name: string,
  types: readonly ResolvedValue[],
): ResolvedValue | 'called' | null {
  const [first = UNKNOWN_VALUE] = types;
  // In Python it is the value or None, elsewhere a wrapper around the value.
  if (language === 'python' && (name === 'Optional' || name === 'Union')) return joinValues(types);
  if (COLLECTIONS.has(name)) return { is: 'many', of: first, isMap: false };
  if (MAPS.has(name)) return { is: 'many', of: types[1] ?? UNKNOWN_VALUE, isMap: true };
  // Its members are its elements, under any name.
  if (name === 'Record') return { is: 'many', of: types[1] ?? UNKNOWN_VALUE, isMap: false, isRecord: true };
  if (PROMISES.has(name)) return { is: 'promise', of: first };
  if (SAME.has(name)) return first;
  return name === 'ReturnType' ? 'called' : null;
}

const GIVES_ELEMENT = new Set('at find findLast pop shift get next first last peek values'.split(' '));
const GIVES_SAME = new Set(
  'iter iter_mut into_iter stream cloned copied rev take skip collect filter slice concat sort toSorted reverse toReversed splice add set values with keys entries flat'.split(
    ' ',
  ),
);

/** Returns the result of a method of a collection or a promise. */
export function callBuiltIn({ of, name }: Extract<ResolvedValue, { is: 'method' }>): ResolvedValue {
  if (of.is === 'promise') return name === 'catch' || name === 'finally' ? of : UNKNOWN_VALUE;
  const element = of.is === 'many' ? of.of : of.is === 'list' ? joinValues(of.items) : UNKNOWN_VALUE;
  if (name === 'values') return { is: 'many', of: element, isMap: false };
  if ((name === 'entries' || name === 'items') && of.is === 'many')
    return of.isMap ? of : { is: 'many', of: element, isMap: true };
  if (GIVES_ELEMENT.has(name)) return element;
  if (GIVES_SAME.has(name)) return of;
  return name === 'map' || name === 'flatMap' || name === 'reduce' ? UNKNOWN_VALUE : OUTSIDE_VALUE;
}

const TAKES_TWO = new Set(['sort', 'toSorted']);
const TAKES_LATER = new Set(['reduce', 'reduceRight']);

/** Returns the value that a method of a collection or a promise passes to that parameter of its callback. */
export function parameterOfBuiltIn(
  { of, name }: Extract<ResolvedValue, { is: 'method' }>,
  param: number,
): ResolvedValue {
  const passed = ((): ResolvedValue => {
    if (of.is === 'promise') return name === 'then' && param === 0 ? of.of : UNKNOWN_VALUE;
    const element = of.is === 'many' ? of.of : of.is === 'list' ? joinValues(of.items) : UNKNOWN_VALUE;
    if (TAKES_LATER.has(name)) return param === 1 ? element : UNKNOWN_VALUE;
    if (TAKES_TWO.has(name)) return element;
    return param === 0 ? element : OUTSIDE_VALUE;
  })();
  return { is: 'method', of: passed, name };
}
