import type { Expr, Reference, ReferenceKind } from '../facts.ts';
import type { Evaluator } from './evaluate.ts';
import type { FileView, Project } from './project.ts';
import type { Value } from './values.ts';

/** How an edge was found, from the surest way to the least sure. */
export const STRATEGIES = ['local', 'import', 'package', 'self', 'type', 'alias', 'name'] as const;

export type Strategy = (typeof STRATEGIES)[number];

/** A reference that leads to a symbol of the project. */
export interface Edge {
  /** Index of the symbol in whose code the reference stands. */
  from: number;
  to: { file: number; index: number };
  kind: ReferenceKind;
  line: number;
  /** 1 by package or file, 0.7 by the receiver's type, 0.4 by its name alone. */
  confidence: 1 | 0.7 | 0.4;
  strategy: Strategy;
  /** How many symbols it might have been. */
  candidates: number;
}

type Found = Pick<Edge, 'to' | 'confidence' | 'strategy' | 'candidates'>;

/** Resolves what a file refers to, one reference after another. */
export function createReferenceResolver(project: Project, evaluator: Evaluator) {
  const { evaluate, lookUpType, findMember } = evaluator;

  const target = (value: Value): Found['to'] | null =>
    value.is === 'symbol' ? { file: value.file.id, index: value.index } : null;

  function found(value: Value, confidence: Found['confidence'], strategy: Strategy): Found | null {
    if (value.is === 'either') {
      const symbols = value.values.filter((each) => each.is === 'symbol');
      const to = symbols[0] === undefined ? null : target(symbols[0]);
      return to === null ? null : { to, confidence: 0.4, strategy, candidates: symbols.length };
    }
    const to = target(value);
    return to === null ? null : { to, confidence, strategy, candidates: 1 };
  }

  function resolveMember(file: FileView, object: Expr, name: string): Found | null {
    const value = evaluate(file, object);
    const member = findMember(value, name);
    if (member !== null) {
      if (value.is === 'module' || value.is === 'space') return found(member.value, 1, 'import');
      if (object[0] === 'self' || object[0] === 'super')
        return found(member.value, member.isOwn ? 1 : 0.7, 'self');
      if (value.is === 'symbol') {
        const { kind } = value.file.facts.symbols[value.index]!;
        // A class, an enum or a namespace that is named is as sure as an import.
        const isNamed = kind !== 'variable' && kind !== 'field';
        return found(member.value, isNamed && member.isOwn ? 1 : 0.7, isNamed ? 'import' : 'type');
      }
      return found(member.value, 0.7, 'type');
    }
    return value.is === 'unknown' ? resolveByName(file, name) : null;
  }

  /** The last resort: a member of something unknown, when one symbol only in the whole project has that name. */
  function resolveByName(file: FileView, name: string): Found | null {
    if (COMMON_MEMBERS.has(name)) return null;
    const members = project.findMembers(file, name);
    const [to] = members;
    return to === undefined || members.length > 1
      ? null
      : { to, confidence: 0.4, strategy: 'name', candidates: members.length };
  }

  function resolveExpression(file: FileView, expr: Expr, kind: ReferenceKind): Found | null {
    const isType = kind === 'type' || kind === 'inherit';
    switch (expr[0]) {
      case 's':
        return { to: { file: file.id, index: expr[1] }, confidence: 1, strategy: 'local', candidates: 1 };
      case 'i':
        return found(isType ? lookUpType(file, expr) : evaluate(file, expr), 1, 'import');
      case 'g':
        return found(isType ? lookUpType(file, expr) : evaluate(file, expr), 1, 'package');
      case 'm':
        return isType ? found(lookUpType(file, expr), 1, 'import') : resolveMember(file, expr[1], expr[2]);
      case 'l': {
        const behind = file.facts.locals[expr[1]] ?? (['?'] as const);
        const value = evaluate(file, expr);
        // A function that an option holds is called by another name: which one it is, nobody can tell here.
        const isHeld = value.is === 'symbol' && value.file.facts.symbols[value.index]?.kind === 'field';
        if (isHeld) return found(value, 0.4, 'alias');
        const isModule = behind[0] === 'm' && ['module', 'space'].includes(evaluate(file, behind[1]).is);
        return found(value, isModule ? 1 : 0.7, 'alias');
      }
      case '|': {
        // A bare name: of the class around, else of the package.
        const [, first, second] = expr;
        const own =
          first?.[0] === 'm' && first[1][0] === 'self' ? resolveMember(file, first[1], first[2]) : null;
        if (own !== null) return own;
        return second?.[0] === 'g' && first?.[0] === 'm'
          ? resolveExpression(file, second, kind)
          : found(evaluate(file, expr), 0.7, 'type');
      }
      case 'super': {
        const base = evaluate(file, expr);
        return base.is === 'instance'
          ? { to: { file: base.file.id, index: base.index }, confidence: 1, strategy: 'self', candidates: 1 }
          : null;
      }
      default:
        return found(evaluate(file, expr), 0.7, 'type');
    }
  }

  return {
    /** The edges that begin in a file; references that lead nowhere, or to more than one place, are counted. */
    resolveFile(file: FileView): { edges: Edge[]; unresolved: number } {
      const edges = new Map<string, Edge>();
      let unresolved = 0;
      for (const [kind, expr, line, from] of file.facts.references as Reference[]) {
        const way = resolveExpression(file, expr, kind);
        if (way === null) {
          unresolved += 1;
          continue;
        }
        const view = project.view(way.to.file);
        const fact = view?.facts.symbols[way.to.index];
        if (fact === undefined || (kind === 'value' && (fact.kind === 'field' || fact.kind === 'variable')))
          continue;
        const isItself = way.to.file === file.id && way.to.index === from;
        if (isItself && way.strategy !== 'local' && way.strategy !== 'self') continue;
        if (kind === 'type' && isItself) continue;
        const key = `${from} ${way.to.file} ${way.to.index} ${kind}`;
        const known = edges.get(key);
        if (known === undefined || known.confidence < way.confidence)
          edges.set(key, { ...way, from, kind, line: known?.line ?? line });
      }
      return { edges: [...edges.values()], unresolved };
    },
  };
}

/** Members that objects of the languages themselves have: a project's own one of the same name is rarely meant. */
const COMMON_MEMBERS = new Set(
  'constructor toString valueOf hasOwnProperty length size name push pop shift unshift slice splice concat join reverse sort map filter reduce forEach find findIndex some every includes indexOf lastIndexOf flat flatMap fill keys values entries at get set has add delete clear then catch finally call apply bind next return throw split replace replaceAll match matchAll test exec trim trimStart trimEnd startsWith endsWith padStart padEnd charAt charCodeAt codePointAt substring substr toLowerCase toUpperCase normalize repeat search localeCompare log warn error info debug on once off emit addListener removeListener addEventListener removeEventListener write end pipe read close open send json text status parse stringify from of isArray assign freeze create max min floor ceil round abs random now append update copy items extend insert remove index count format strip lower upper encode decode print run start stop reset init close flush peek equals hashCode compareTo clone unwrap expect iter collect len is_empty push_str to_string to_owned into as_ref as_mut ok err'.split(
    ' ',
  ),
);
