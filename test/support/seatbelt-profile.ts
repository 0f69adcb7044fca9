import assert from 'node:assert/strict';
import { isInsideFolder } from '../../engine/core/base/paths.ts';

type Term = string | { list: Term[] };

/** One access that a profile decides about. */
export interface Access {
  operation: string;
  path?: string;
  /** The service of a lookup, or the target of a signal. */
  name?: string;
  /** The number of an ioctl. */
  command?: number;
}

/** Reads the terms of a profile: lists, words, strings and `#"…"`. Fails if they are not balanced. */
function readTerms(text: string): Term[] {
  const stack: Term[][] = [[]];
  for (const [token] of text.matchAll(/\(|\)|#?"(?:[^"\\]|\\.)*"|[^\s()"]+/g)) {
    if (token === '(') stack.push([]);
    else if (token === ')') {
      const list = stack.pop() ?? assert.fail('a parenthesis too many');
      (stack.at(-1) ?? assert.fail('a parenthesis too many')).push({ list });
    } else stack.at(-1)?.push(token);
  }
  assert.equal(stack.length, 1, 'an open parenthesis');
  return stack[0] ?? [];
}

const matchesOperation = (pattern: string, operation: string): boolean =>
  pattern === 'default' ||
  pattern === operation ||
  (pattern.endsWith('*') && operation.startsWith(pattern.slice(0, -1)));

/**
 * Reads a profile of sandbox-exec(1) and returns whether it allows an access, by the rule that macOS documents: the
 * last one that covers it. It knows the words that svc uses, and fails for any other.
 */
export function readProfile(
  text: string,
  parameters: ReadonlyMap<string, string>,
): (access: Access) => boolean {
  const readValue = (term: Term | undefined): string => {
    if (typeof term === 'string') return term.replace(/^#?"|"$/g, '');
    const [word, name] = term?.list ?? [];
    assert.equal(word, 'param');
    return parameters.get(readValue(name)) ?? assert.fail(`no parameter ${readValue(name)}`);
  };
  const covers = (filter: Term, access: Access): boolean => {
    assert.ok(typeof filter !== 'string', `a filter that is a word: ${JSON.stringify(filter)}`);
    const [word, ...rest] = filter.list;
    const { path } = access;
    switch (word) {
      case 'literal':
        return path === readValue(rest[0]);
      case 'subpath':
        return path !== undefined && isInsideFolder(readValue(rest[0]), path);
      case 'regex':
        return path !== undefined && new RegExp(readValue(rest[0])).test(path);
      case 'require-all':
        return rest.every((each) => covers(each, access));
      case 'global-name':
      case 'target':
        return access.name === readValue(rest[0]);
      case 'ioctl-command':
        return access.command === Number(rest[0]);
      case 'remote':
      case 'local': {
        const [kind, value] = rest;
        if (kind === 'unix-socket') return access.name === kind && covers(value ?? '', access);
        assert.deepEqual([kind, value], ['ip', '"*:*"']);
        return access.name === 'ip';
      }
      case 'extension':
      case 'iokit-registry-entry-class':
        return false;
      default:
        return assert.fail(`an unknown filter: ${JSON.stringify(word)}`);
    }
  };
  const [version, ...terms] = readTerms(text);
  assert.deepEqual(version, { list: ['version', '1'] });
  const rules = terms.map((term) => {
    assert.ok(typeof term !== 'string', `a loose word: ${JSON.stringify(term)}`);
    const [verdict, ...rest] = term.list;
    assert.ok(verdict === 'allow' || verdict === 'deny', `an unknown rule: ${JSON.stringify(verdict)}`);
    const operations = rest.filter((each): each is string => typeof each === 'string');
    return { isAllowed: verdict === 'allow', operations, filters: rest.slice(operations.length) };
  });
  return (access) =>
    rules.findLast(
      ({ operations, filters }) =>
        operations.some((each) => matchesOperation(each, access.operation)) &&
        (filters.length === 0 || filters.some((filter) => covers(filter, access))),
    )?.isAllowed ?? false;
}
