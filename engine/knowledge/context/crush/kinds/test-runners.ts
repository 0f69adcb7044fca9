import { tellsOfFailure } from '../failure.ts';
import { endOfBlock } from '../lines.ts';
import type { NoiseClass, OutputMarks, OutputRecogniser } from '../recogniser.ts';
import { indentOf } from '../shape.ts';

// A passing test is one line; failed, skipped and retried tests match none of the patterns below and stay.

const PASSED: NoiseClass = {
  what: 'more passing tests',
  pattern:
    /^[ \t]*(?:✓|✔|√|✅|☑|\[✔\]|\[✓\]|\(pass\))\s+(?!.*(?:\b(?:skip|retr(?:y|ied)|flaky|todo|warn|fail)|[✗✘×✖❌⚠]|m?s\) # \S))\S.*$/iu,
};
const SUITE: NoiseClass = { what: 'names of suites that passed', pattern: /(?!)/, keep: 'none' };
const STARTED: NoiseClass = { what: 'more lines that announce a test', pattern: /(?!)/, keep: 'none' };

/** Runners that tick passed tests: vitest, jest, mocha, node, playwright, bun, ava, pest, hspec. */
export const ticks: OutputRecogniser = {
  kind: 'tests',
  // To-do lists have ticks too, but no durations or test totals.
  evidence:
    /^[ \t]*(?:✓|✔|√|✅|☑|\[✔\]|\[✓\]|\(pass\))\s+\S.*[[( ]\d+(?:\.\d+)? ?m?s[\])]?\n(?:.*\n){0,8}?[ \t]*(?:✓|✔|√|✅|☑|\[✔\]|\[✓\]|\(pass\))\s+\S.*[[( ]\d+(?:\.\d+)? ?m?s[\])]?$|^[ \t]*\d+ passing\b|^[ \t]*(?:Tests|Test Suites|Test Files):?[ \t].*\d+ passed|^ℹ pass \d+|^[ \t]*\d+ pass(?:ed)?$/u,
  classes: [
    PASSED,
    { what: 'more test files that passed', pattern: /^[ \t]*PASS\s+\S+\.[cm]?[jt]sx?(?: \(.*\))?$/ },
    { what: 'more lines that announce a test', pattern: /^[ \t]*(?:▶ |RUNS {2})\S.*$/ },
  ],
  mark(text, marks) {
    keepOpenSuites(text.bodies, marks);
    markPassedSuites(text.bodies, marks);
  },
};

/** Keeps open suites: `▶ name` opens a block that the same name closes, and stays if that is not a tick. */
function keepOpenSuites(bodies: readonly string[], marks: OutputMarks): void {
  const closed = new Set<string>();
  for (let at = bodies.length - 1; at >= 0; at -= 1) {
    const body = bodies[at] as string;
    const closing = /^(\s*)✔ (.+?)(?: \([\d.]+m?s\))?$/u.exec(body);
    if (closing !== null) closed.add(`${closing[1]}${closing[2]}`);
    const opening = /^(\s*)▶ (.+?)(?: \([\d.]+m?s\))?$/u.exec(body);
    if (opening !== null && !closed.delete(`${opening[1]}${opening[2]}`)) marks[at] = null;
  }
}

/** Marks suites: a name with only passed tests below it counts as passed. */
function markPassedSuites(bodies: readonly string[], marks: OutputMarks): void {
  for (let at = bodies.length - 1; at >= 0; at -= 1) {
    const body = bodies[at] as string;
    if (marks[at] !== null || body.trim() === '' || tellsOfFailure(body)) continue;
    const end = endOfBlock(bodies, at);
    if (end === at + 1) continue;
    let below = at + 1;
    while (below < end && marks[below] !== null) below += 1;
    if (below === end) marks[at] = SUITE;
  }
}

/** The Test Anything Protocol: node, mocha, tape, bats, prove. */
export const tap: OutputRecogniser = {
  kind: 'tests',
  evidence: /^[ \t]*(?:ok \d+ - \S|1\.\.\d+$|# Subtest: )|^TAP version \d+$/,
  classes: [
    { what: 'more passing tests', pattern: /^[ \t]*ok \d+(?! .*# (?:SKIP|TODO))(?: .*)?$/i },
    { what: 'more test files that passed', pattern: /^\S+\.t \.+ ok$/ },
    { what: 'more plans of subtests', pattern: /^[ \t]+1\.\.\d+$/ },
  ],
  mark({ bodies }, marks) {
    const passed = new Set<string>();
    for (let at = bodies.length - 1; at >= 0; at -= 1) {
      const body = bodies[at] as string;
      const test = /^(\s*)(not )?ok \d+ - (.*?)(?: #.*)?$/.exec(body);
      if (test !== null) {
        const name = `${test[1]}${test[3]}`;
        if (marks[at] === null) passed.delete(name);
        else passed.add(name);
        if (marks[at] !== null) markYaml(bodies, marks, at);
      }
      const begun = /^(\s*)# Subtest: (.*)$/.exec(body);
      if (begun !== null && passed.has(`${begun[1]}${begun[2]}`)) marks[at] = STARTED;
    }
  },
};

const DETAILS: NoiseClass = { what: 'more lines about passing tests', pattern: /(?!)/, keep: 'none' };

/** Marks TAP's details of a test between `---` and `...`. */
function markYaml(bodies: readonly string[], marks: OutputMarks, at: number): void {
  if (bodies[at + 1]?.trim() !== '---') return;
  const indent = indentOf(bodies[at + 1] as string);
  let end = at + 2;
  while (end < bodies.length && indentOf(bodies[end] as string) >= indent && bodies[end]?.trim() !== '...')
    end += 1;
  if (bodies[end]?.trim() !== '...') return;
  for (let line = at + 1; line <= end; line += 1) marks[line] = DETAILS;
}

export const python: OutputRecogniser = {
  kind: 'tests',
  evidence:
    /^=+ (?:test session starts|short test summary info|FAILURES) =+$|^Ran \d+ tests? in |^\w+ \([\w.]+\) \.\.\. ok$/,
  classes: [
    { what: 'more passing tests', pattern: /^\S+::.+ PASSED(?:\s+\[ *\d+%\])?$/ },
    { what: 'more passing tests', pattern: /^\[gw\d+\] \[ *\d+%\] PASSED \S+$/ },
    { what: 'more test files that passed', pattern: /^\S+\.py \.+\s*(?:\[ *\d+%\])?$/ },
    { what: 'more passing tests', pattern: /^\w+ \([\w.]+\)(?: \.\.\.|\n.*\.\.\.) ok$/ },
    { what: 'more tests to run', pattern: /^\S+\.py::\S+ <- .*$/ },
  ],
};

export const rust: OutputRecogniser = {
  kind: 'tests',
  evidence: /^running \d+ tests?$|^[ \t]+Nextest run ID/,
  classes: [
    { what: 'more passing tests', pattern: /^test \S.* \.\.\. ok(?: <[\d.]+s>)?$/ },
    { what: 'more passing tests', pattern: /^[ \t]+PASS \[ *[\d.]+s\](?: \( *\d+\/\d+\))? \S.*$/ },
    { what: 'more crates without tests', pattern: /^running 0 tests$/ },
    {
      what: 'more results of crates without tests',
      pattern:
        /^test result: ok\. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in [\d.]+s$/,
    },
    { what: 'more names of test programs', pattern: /^[ \t]+(?:Running unittests|Doc-tests) \S.*$/ },
  ],
};

export const go: OutputRecogniser = {
  kind: 'tests',
  evidence: /^[ \t]*(?:=== RUN {3}|--- (?:PASS|FAIL): )\S|^ok {2}\t\S+\t[\d.]+s/,
  classes: [
    { what: 'more passing tests', pattern: /^[ \t]*--- PASS: \S+ \([\d.]+s\)$/ },
    { what: 'more lines that announce a test', pattern: /^[ \t]*=== (?:RUN|PAUSE|CONT|NAME) +\S+$/ },
    {
      what: 'more packages that passed',
      pattern: /^ok {2}\t\S+\t(?:[\d.]+s|\(cached\))(?:\tcoverage: .*)?$/,
    },
    {
      what: 'more packages without tests',
      pattern: /^\?\s+\S+\t\[no test files\]$|^\t\S+\t\tcoverage: 0\.0% of statements$/,
    },
  ],
};

export const jvm: OutputRecogniser = {
  kind: 'tests',
  evidence: /^\[INFO\] {1,2}T E S T S$|^\[INFO\] Tests run: \d+|^> Task :|^\S+ > .+ (?:PASSED|FAILED)$/,
  classes: [
    {
      what: 'more test classes that passed',
      pattern:
        /^(?:\[INFO\] )?Tests run: \d+, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: [\d.,]+ ?m?s(?:ec)? (?:--? )?in \S+$/,
    },
    { what: 'more lines that announce a test class', pattern: /^(?:\[INFO\] )?Running \S+$/ },
    { what: 'more passing tests', pattern: /^[ \t]*\S+ > .+ PASSED(?: \([\d.]+m?s\))?$/ },
    { what: 'more tasks', pattern: /^> Task \S+(?: (?:UP-TO-DATE|NO-SOURCE|FROM-CACHE))?$/ },
  ],
};

/** CTest, GoogleTest, .NET, XCTest, PHPUnit, Bazel, TeamCity. */
export const others: OutputRecogniser = {
  kind: 'tests',
  evidence:
    /^[ \t]*\d+\/\d+ Test +#\d+:|^\[ RUN {6}\] |^[ \t]+Passed \S+.* \[[<\d]|^Test Case '.*' (?:passed|started)|^\/\/\S+ +PASSED in |^##teamcity\[test|^Executed \d+ tests|^[.SFERIN]{20,} +\d+ \/ \d+/,
  classes: [
    { what: 'more passing tests', pattern: /^[ \t]*\d+\/\d+ Test +#\d+: \S+ \.+ +Passed +[\d.]+ sec$/ },
    { what: 'more lines that announce a test', pattern: /^[ \t]+Start +\d+: \S+$|^test \d+$/ },
    { what: 'more passing tests', pattern: /^\[ {7}OK \] \S+(?:, where .*)? \(\d+ ms\)$/ },
    { what: 'more lines that announce a test', pattern: /^\[ RUN {6}\] \S+$/ },
    { what: 'more lines about groups of tests', pattern: /^\[-{10}\] (?:\d+ tests? from|Global test).*$/ },
    { what: 'more passing tests', pattern: /^[ \t]+Passed \S.* \[<? ?[\d.]+ ?m?s\]$/ },
    { what: 'more passing tests', pattern: /^Test Case '.*' passed \([\d.]+ seconds\)\.?$/ },
    { what: 'more lines that announce a test', pattern: /^Test (?:Case|Suite) '.*' started(?: at .*)?$/ },
    { what: 'more passing tests', pattern: /^\/\/\S+ +(?:\(cached\) )?PASSED in [\d.]+s$/ },
    {
      what: 'more lines about passing tests',
      pattern: /^##teamcity\[test(?:Started|Finished|SuiteStarted|SuiteFinished) .*\]$/,
    },
    { what: 'more rows of passing tests', pattern: /^\.+ +\d+ \/ \d+ \( *\d+%\)$/ },
  ],
  mark({ bodies }, marks) {
    markOutputOfPassed(bodies, marks);
  },
};

/** Marks output of passed tests: `ctest -V` puts the test number before each output line. */
function markOutputOfPassed(bodies: readonly string[], marks: OutputMarks): void {
  const passed = new Set<string>();
  for (const body of bodies) {
    const found = /^[ \t]*\d+\/\d+ Test +#(\d+): \S+ \.+ +Passed/.exec(body);
    if (found?.[1] !== undefined) passed.add(found[1]);
  }
  if (passed.size === 0) return;
  for (const [at, body] of bodies.entries()) {
    const number = /^(\d+): /.exec(body)?.[1];
    if (number !== undefined && passed.has(number) && !tellsOfFailure(body)) marks[at] = DETAILS;
  }
}

const PASSED_CASE: NoiseClass = { what: 'more passing tests', pattern: /^[ \t]*<testcase\b[^<>]*\/>$/ };
const OPENED_CASE = /^[ \t]*<testcase\b[^<>]*[^/]>$/;

/** The XML of JUnit, which most test runners can write. A case with content, such as a failure, stays. */
const junit: OutputRecogniser = {
  kind: 'tests',
  isDocument: true,
  evidence: /<testcase\b[^<>]*\bname="/,
  classes: [PASSED_CASE, { what: PASSED_CASE.what, pattern: /^[ \t]*<testcase\b[^<>]*><\/testcase>$/ }],
  mark({ bodies }, marks) {
    for (let at = 0; at + 1 < bodies.length; at += 1)
      if (OPENED_CASE.test(bodies[at] as string) && bodies[at + 1]?.trim() === '</testcase>')
        marks.fill(PASSED_CASE, at, at + 2);
  },
};

export const testRunners: readonly OutputRecogniser[] = [tap, ticks, python, rust, go, jvm, others, junit];
