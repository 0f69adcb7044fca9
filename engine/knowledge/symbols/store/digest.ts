import type { ExpressionFact, FileFacts } from '../facts.ts';

/** Maximum depth of references inside a file for a digest. */
const MOST_DEPTH = 12;

/** Returns a number for a name, the same for the same name. */
export function hashName(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/**
 * Returns the public view of a file, by name: if two states of a file have equal digests for a name, users of only
 * that name cannot distinguish them. Positions in the text do not count.
 */
export function digestFacts(facts: FileFacts): Map<string, string> {
  const { symbols, imports, exports, locals, objects } = facts;
  const known = new Map<number, string>();

  const findName = (index: number): string => {
    const parts: string[] = [];
    for (let at = symbols[index] === undefined ? -1 : index; at > 0; at = symbols[at]!.parent)
      parts.unshift(symbols[at]!.name);
    return parts.join('.');
  };

  /** Replaces list indexes with their content. */
  function spell(value: unknown, depth: number): string {
    if (!Array.isArray(value)) return JSON.stringify(value) ?? '';
    if (depth > MOST_DEPTH) return '…';
    const [head, first] = value as readonly unknown[];
    if (typeof first === 'number') {
      if (head === 's' || head === 'self' || head === 'super') return `${head} ${findName(first)}`;
      if (head === 'i') return `i ${imports[first]?.from} ${imports[first]?.name}`;
      if (head === 'l' && value.length === 2) return spellLocal(first, depth);
      if (head === 'o') {
        const object = objects[first];
        const members = Object.entries(object?.members ?? {}).map(
          ([name, member]) => `${name}:${spell(member, depth + 1)}`,
        );
        return `o ${members.join()} ${object?.spreads.map((each) => spell(each, depth + 1)).join()}`;
      }
      if (head === 'p') return `p ${findName(first)} ${String(value[2])}`;
    }
    return `[${value.map((each) => spell(each, depth + 1)).join()}]`;
  }

  /** Expands `l`: a local variable among values, and the symbol of a literal among types. */
  function spellLocal(index: number, depth: number): string {
    const cached = known.get(index);
    if (cached !== undefined) return cached;
    const local = locals[index] as ExpressionFact | undefined;
    const text = `l ${findName(index)} ${local === undefined ? '' : spell(local, depth + 1)}`;
    if (depth === 0) known.set(index, text);
    return text;
  }

  const parts = new Map<string, string[]>();
  const addPart = (name: string, part: string): void => {
    const list = parts.get(name);
    if (list === undefined) parts.set(name, [part]);
    else list.push(part);
  };
  const roots: string[] = [];
  for (const [index, fact] of symbols.entries()) {
    if (index === 0) continue;
    const root = fact.parent <= 0 ? fact.name : roots[fact.parent]!;
    roots[index] = root;
    const { kind, isStatic, isAsync, type, init, returnType, returns, params, arity, bases, generics } = fact;
    const said = [
      type,
      fact.receiver,
      fact.labels,
      init,
      returnType,
      ...(returns ?? []),
      params,
      arity,
      bases,
      generics,
    ];
    addPart(
      root,
      `${findName(index)} ${kind} ${isStatic ?? ''} ${isAsync ?? ''} ${said.map((each) => spell(each, 0)).join(';')}`,
    );
  }
  for (const { name, value } of exports) addPart(name, `export ${spell(value, 0)}`);
  addPart('', facts.packageName ?? '');
  return new Map([...parts].map(([name, list]) => [name, list.join('\n')]));
}

/** Returns the names with different digests. */
export function listChangedNames(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name));
}
