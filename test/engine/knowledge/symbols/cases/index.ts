import type { Files } from '../graph-rig.ts';
import { type CallCase, callsOf, filesOf, readCases } from './cases.ts';
import { GO_CASES } from './go.ts';
import { JAVA_CASES } from './java.ts';
import { PYTHON_CASES } from './python.ts';
import { RUST_CASES } from './rust.ts';

const LANGUAGES: Readonly<Record<string, { text: string; first: string; manifest: Files }>> = {
  Python: { text: PYTHON_CASES, first: 'a.py', manifest: {} },
  Go: { text: GO_CASES, first: 'a.go', manifest: { 'go.mod': 'module m\n' } },
  Rust: { text: RUST_CASES, first: 'src/lib.rs', manifest: { 'Cargo.toml': '[package]\nname = "m"\n' } },
  Java: { text: JAVA_CASES, first: 'A.java', manifest: {} },
};

export interface LanguageCase {
  name: string;
  files: Files;
  /** `a.py:f -> a.py:g` */
  calls: string[];
}

/** Small programs by language, with all their calls. */
export const LANGUAGE_CASES: Readonly<Record<string, readonly LanguageCase[]>> = Object.fromEntries(
  Object.entries(LANGUAGES).map(([language, { text, first, manifest }]) => [
    language,
    readCases(text).map((each: CallCase) => ({
      name: each.name,
      files: { ...manifest, ...filesOf(each, first) },
      calls: callsOf(each, first),
    })),
  ]),
);
