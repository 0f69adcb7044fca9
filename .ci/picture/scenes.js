// The scenes of the pictures in docs/. The workspace, its engine and the workers are real; the scripted program plays
// the agents.

/** A typical day: one decision is open, a worker runs. */
const quiet = {
  /** Tasks of this machine, in order, each awaited up to the status. */
  tasks: [
    { title: 'Greet new visitors by name', prompt: 'Greet new visitors by name.', until: 'done' },
    { title: 'Bring the changelog up to date', prompt: '#agent: dirty\n#agent: fail 3', until: 'failed' },
    {
      title: 'Find slow queries of the order list',
      prompt: '#agent: lines 9 1\n#agent: no-change\n#agent: hang',
      until: 'running',
    },
  ],
  /** Prompts that arrive as signed requests and wait for a decision. */
  requests: [
    'Fix the flaky retry test in the gateway\n\nThe test "retries twice on 529" fails one run in ten. Find the race and fix it without raising the timeout, and add a regression test.',
    'Add a test for the empty cart',
  ],
  pictures: [
    {
      file: 'docs/pictures/dashboard.svg',
      columns: 140,
      rows: 40,
      /** Actions in the dashboard before the picture: keys to press, then text to await, or its end. */
      steps: [{ shows: 'engine ok' }, { shows: '│ │ Fix the flaky' }, { keys: ['j', 'j'], shows: '+Greet' }],
    },
  ],
};

/** Working agents: name, task, and last output. */
const WORK = [
  ['claude', 'Move the session store to Redis', 'PASS  test/session.test.ts (41 tests)'],
  ['codex', 'Speed up the order list', 'comparing EXPLAIN before and after the index'],
  ['claude', 'Replace moment with Temporal', '14 of 22 call sites are moved'],
  ['gemini', 'Translate the checkout into Dutch', 'nl.json: 212 of 340 strings'],
  ['codex', 'Fix the flaky retry test', 'run 83 of 100, no failure so far'],
  ['claude', 'Add CSV export to reports', 'writing src/reports/csv.ts'],
  ['opencode', 'Raise coverage of the parser', 'coverage 71.4 % → 83.9 %'],
  ['claude', 'Upgrade to React 19', 'npm run typecheck: 6 errors left'],
  ['gemini', 'Write the API reference', 'docs/api/orders.md is done, next is refunds'],
  ['codex', 'Remove the legacy login', 'nothing refers to legacyLogin() any more'],
];

const PARTS = [
  'cart',
  'login',
  'search',
  'invoice',
  'report',
  'gateway',
  'mailer',
  'import',
  'export',
  'profile',
];
const WISHES = [
  'Add a test for the',
  'Fix the rounding in the',
  'Document the',
  'Simplify the',
  'Log errors of the',
  'Cache the',
];

/** The keys before the picture: the cursor is on the first running agent. */
const busySteps = [
  { shows: 'engine ok' },
  { shows: / 300 rows/ },
  { keys: ['j'], shows: /▶t-1 [\s\S]*PASS/ },
];

/** Ten agents run, and there are 300 tasks. */
const busy = {
  tasks: [
    ...WORK.map(([agent, title, said], index) => ({
      agent,
      title,
      prompt: `#agent: run for i in $(seq ${index * 7 + 3}); do echo "check($i);"; done > checks.ts && git add -A && git commit -qm 'Add checks'\n#agent: say ${said}\n#agent: wait-for the-end`,
      until: 'running',
    })),
    ...Array.from({ length: 289 }, (_, index) => ({
      agent: WORK[index % WORK.length][0],
      title: `${WISHES[index % WISHES.length]} ${PARTS[Math.floor(index / 6) % PARTS.length]} (${index + 11})`,
    })),
  ],
  requests: ['Let customers pay by invoice'],
  pictures: [
    [80, 24],
    [120, 34],
    [140, 40],
    [200, 50],
  ].map(([columns, rows]) => ({
    file: `docs/pictures/busy-${columns}x${rows}.svg`,
    columns,
    rows,
    steps: busySteps,
  })),
};

export const SCENES = [quiet, busy];
