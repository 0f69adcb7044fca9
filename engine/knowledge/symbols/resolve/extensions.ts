import { isFunction } from '../facts.ts';
import { createArgumentFitting } from './argument-types.ts';
import type { FoundMember, ValueEvaluation } from './evaluation.ts';
import { type FileView, symbolAt } from './project.ts';
import type { ResolvedValue } from './values.ts';

/** Languages with functions that are called as members of a value that they extend. */
const HAS_EXTENSIONS: ReadonlySet<string> = new Set(['kotlin', 'csharp']);

/** Finds members that are called, including functions that extend a value from outside. */
export function createExtensionFinder(parts: ValueEvaluation): Pick<ValueEvaluation, 'findCalled'> {
  const { project } = parts;
  const fitArgument = createArgumentFitting(parts);

  /** Reports whether a file may name the functions of another one: by its package, or by an import. */
  function isVisible(from: FileView, target: FileView, name: string): boolean {
    const { packageName = '' } = target.facts;
    const own = from.facts.packageName ?? '';
    if (own === packageName || own.startsWith(`${packageName}.`)) return true;
    return from.facts.imports.some(
      (each) => each.from === packageName && (each.name === '*' || each.name === name),
    );
  }

  function findExtension(file: FileView, value: ResolvedValue, name: string): FoundMember | null {
    const held = value.is === 'symbol' ? parts.settle(value) : value;
    let found: { value: ResolvedValue; fit: number } | null = null;
    for (const { file: id, index } of project.findExtensions(file, name)) {
      const view = project.view(id);
      const receiver = view === null ? undefined : symbolAt(view, index).receiver;
      if (view === null || receiver === undefined || !isVisible(file, view, name)) continue;
      // A type parameter without a bound is extended with everything.
      const param: ResolvedValue =
        receiver[0] === '?' && receiver[1] !== undefined
          ? { is: 'outside', name: 'Object' }
          : parts.evaluateType(view, receiver);
      const fit = fitArgument(held, param, view.language);
      if (fit > (found?.fit ?? 0)) found = { value: { is: 'symbol', file: view, index }, fit };
    }
    // An unknown value may have any other member of that name.
    return found === null || found.fit === 1 ? null : { value: found.value, isOwn: false };
  }

  return {
    findCalled(file, value, name) {
      const member = parts.findMember(value, name, 'call');
      if (!HAS_EXTENSIONS.has(file.language)) return member;
      const isMethod =
        member?.value.is === 'symbol' && isFunction(symbolAt(member.value.file, member.value.index));
      return isMethod ? member : (findExtension(file, value, name) ?? member);
    },
  };
}
