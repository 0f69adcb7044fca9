import type * as z from 'zod';
import { SvcError } from '../core/base/errors.ts';
import { listNamesAt } from './keys.ts';
import { getAt, type KeyPath } from './layers.ts';
import { findNearest, suggestName } from './nearest.ts';

/** The problem of one value. `file`, `line` and `column` are null if no file contains the value. */
export interface ConfigProblem {
  file: string | null;
  line: number | null;
  column: number | null;
  /** Dotted path of the key. */
  path: string;
  message: string;
  /** The environment variable, or `flag`, that set the value instead of a file. */
  by?: string;
}

/** A finding before its place is known. `key` marks the name itself instead of its value. */
export interface ConfigFinding {
  path: KeyPath;
  message: string;
  key?: boolean;
}

const NOUN: Record<string, string> = {
  string: 'a string',
  // All numbers of the configuration are integers.
  number: 'a whole number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
};

/** Describes zod's findings in `tree`. No message repeats a value: it could be a secret in the wrong place. */
export const listFindings = (schema: z.ZodType, tree: unknown, error: z.ZodError): ConfigFinding[] =>
  error.issues.flatMap((issue) => listSentences(schema, tree, issue));

function listSentences(schema: z.ZodType, tree: unknown, issue: z.core.$ZodIssue): ConfigFinding[] {
  const { path } = issue;
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((name) => ({
        path: [...path, name],
        key: true,
        message: `unknown key${suggestKeyName(schema, path, name)}`,
      }));
    case 'invalid_type': {
      const value = getAt(tree, path);
      if (value === undefined) return [{ path, message: 'is required' }];
      const noun = NOUN[issue.expected] ?? issue.expected;
      return [{ path, message: `expected ${noun}, got ${describeKind(value)}` }];
    }
    case 'invalid_value': {
      const allowed = issue.values.map(String).filter((value) => value !== '');
      const value = getAt(tree, path);
      const close = typeof value === 'string' ? findNearest(value, allowed) : undefined;
      const got = typeof value === 'string' ? '' : `, got ${describeKind(value)}`;
      return [
        {
          path,
          message: `expected one of ${allowed.join(', ')}${got}${close ? `; did you mean ${close}?` : ''}`,
        },
      ];
    }
    case 'too_small':
      return [
        {
          path,
          message: issue.origin === 'string' ? 'must not be empty' : `must be at least ${issue.minimum}`,
        },
      ];
    case 'too_big':
      return [{ path, message: `must be at most ${issue.maximum}` }];
    case 'invalid_key':
      return [{ path, key: true, message: issue.issues[0]?.message ?? 'this name is not allowed' }];
    case 'invalid_union': {
      // Of several possible types, report the intended one.
      const meant = issue.errors.find(
        (inner) => !inner.some((each) => each.code === 'invalid_type' && each.path.length === 0),
      );
      if (meant === undefined)
        return [{ path, message: `expected a different type, got ${describeKind(getAt(tree, path))}` }];
      return meant.flatMap((each) =>
        listSentences(schema, tree, { ...each, path: [...path, ...each.path] } as z.core.$ZodIssue),
      );
    }
    default:
      return [{ path, message: issue.message }];
  }
}

// A key in the wrong section is as common as a misspelt one.
function suggestKeyName(schema: z.ZodType, path: KeyPath, name: string): string {
  const here = suggestName(name, listNamesAt(schema, path));
  if (here !== '') return here;
  for (const section of listNamesAt(schema, [])) {
    if (section !== path[0] && listNamesAt(schema, [section]).includes(name))
      return `, did you mean ${section}.${name}?`;
  }
  return '';
}

function describeKind(value: unknown): string {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return Number.isInteger(value) ? 'a number' : 'a fraction';
  if (typeof value === 'boolean') return `the value ${value}`;
  return typeof value === 'object' ? 'a mapping' : 'a string';
}

/** Creates one error for all problems, one line each: `svc.yaml:12:3 agents.timout_sec: unknown key, …`. */
export function configInvalidError(
  problems: readonly ConfigProblem[],
  label: (file: string) => string,
): SvcError {
  const ordered = [...problems].sort((a, b) =>
    a.file === b.file ? (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0) : 0,
  );
  // One variable can set several keys; report its mistake once.
  const byLine = new Map(ordered.map((problem) => [describeProblem(problem, label), problem]));
  return new SvcError('config_invalid', [...byLine.keys()].join('\n'), {
    data: { problems: [...byLine.values()] },
  });
}

/** Formats a problem as one line. */
export function describeProblem(
  { file, line, column, path, message, by }: ConfigProblem,
  label: (file: string) => string,
): string {
  const place = file === null ? (by ?? '') : line === null ? label(file) : `${label(file)}:${line}:${column}`;
  const head = [place, path].filter((part) => part !== '').join(' ');
  // Names come from the file: a control character in one must not reach the terminal.
  return (head === '' ? message : `${head}: ${message}`).replace(/[\x00-\x1f\x7f-\x9f]/g, '?');
}
