// Requirements of the server scenarios in the official conformance suite. A scenario runs if the server offers what
// `needs` names, so an entry cannot hide a scenario once the server supports it; without `needs` it always runs.
// `why` is printed if it does not run. `except` names single checks that need what this server does not offer, with the
// reason; they are printed as skipped, and no other check may fail.

const example = (tool, what) => ({
  tools: tool,
  why: `It calls ${tool} of the suite's example server, ${what}.`,
});

const exampleResource = (uri, what) => ({
  resources: uri,
  why: `It ${what} ${uri} of the suite's example server, and this server has only its own resources.`,
});

const NO_PROMPTS = 'This server offers tools and resources, and declares no prompts.';

/** The suite for clients that begin with initialize. */
const WITH_SESSIONS = {
  'server-initialize': {},
  ping: {},
  'tools-list': {},
  'server-sse-multiple-streams': {},
  'dns-rebinding-protection': {},

  'logging-set-level': {
    capability: 'logging',
    why: 'This server declares no logging: it sends no log messages, so clients cannot set a level.',
  },
  'completion-complete': {
    capability: 'completions',
    why: 'It completes the argument of a prompt; this server has no prompts and declares no completions.',
  },

  'tools-call-simple-text': example('test_simple_text', 'which returns a fixed text'),
  'tools-call-image': example('test_image_content', 'and no tool of this server returns images'),
  'tools-call-audio': example('test_audio_content', 'and no tool of this server returns audio'),
  'tools-call-embedded-resource': example(
    'test_embedded_resource',
    'and no tool of this server returns resources',
  ),
  'tools-call-mixed-content': example(
    'test_multiple_content_types',
    'and no tool of this server returns images or resources',
  ),
  'tools-call-with-logging': example('test_tool_with_logging', 'and this server declares no logging'),
  'tools-call-error': example('test_error_handling', 'which always fails with a fixed text'),
  'tools-call-with-progress': example('test_tool_with_progress', 'which reports three steps of progress'),
  'tools-call-sampling': example('test_sampling', 'and this server never asks a client to sample its model'),
  'tools-call-elicitation': example('test_elicitation', 'and this server never asks a client for input'),
  'elicitation-sep1034-defaults': example(
    'test_elicitation_sep1034_defaults',
    'and this server never asks a client for input',
  ),
  'elicitation-sep1330-enums': example(
    'test_elicitation_sep1330_enums',
    'and this server never asks a client for input',
  ),
  'json-schema-2020-12': example('json_schema_2020_12_tool', 'whose schema the suite compares word by word'),
  'server-sse-polling': example('test_reconnection', 'which cuts its own stream in the middle of a call'),

  'resources-list': { capability: 'resources', why: 'This server declares no resources.' },
  'resources-read-text': exampleResource('test://static-text', 'reads'),
  'resources-read-binary': exampleResource('test://static-binary', 'reads'),
  'resources-templates-read': exampleResource('test://template/{id}/data', 'reads'),
  'resources-subscribe': exampleResource('test://watched-resource', 'follows'),
  'resources-unsubscribe': exampleResource('test://watched-resource', 'follows'),

  'prompts-list': { capability: 'prompts', why: NO_PROMPTS },
  'prompts-get-simple': { prompts: 'test_simple_prompt', why: NO_PROMPTS },
  'prompts-get-with-args': { prompts: 'test_prompt_with_arguments', why: NO_PROMPTS },
  'prompts-get-embedded-resource': { prompts: 'test_prompt_with_embedded_resource', why: NO_PROMPTS },
  'prompts-get-with-image': { prompts: 'test_prompt_with_image', why: NO_PROMPTS },
};

const asksClient = (tool) => example(tool, 'and this server never asks a client for input');
const NO_LONG_TOOL = example('slow_compute', 'whose calls take as long as its arguments say');

/** The suite for clients whose requests stand alone. */
const WITHOUT_SESSIONS = {
  'server-stateless': {
    except: {
      'sep-2575-server-rejects-undeclared-capability':
        'It calls test_missing_capability; no tool here needs a capability.',
      'sep-2575-missing-capability-http-400':
        'It calls test_missing_capability; no tool here needs a capability.',
      'sep-2575-http-server-no-independent-requests-on-stream':
        'It calls test_streaming_elicitation; this server never asks a client for input.',
      'sep-2575-server-no-log-without-loglevel':
        'It calls test_logging_tool; this server declares no logging.',
      'sep-2575-server-sends-tools-list-changed-on-subscription':
        "It changes the list by tools of the suite's example server; here only svc.yaml changes it.",
    },
  },
  'tools-list': {},
  caching: { except: { 'sep-2549-prompts-list-caching-hints': NO_PROMPTS } },
  'http-header-validation': {},
  'sep-2164-resource-not-found': {},
  'dns-rebinding-protection': {},
  'server-sse-multiple-streams': {},
  'resources-list': {},
  'input-required-result-unsupported-methods': {},
  'tasks-status-notifications': {
    tools: 'slow_compute',
    why: 'The suite skips it itself: it has not been rewritten for subscriptions/listen.',
  },
  'http-custom-header-server-validation': {
    tools: 'test_x_mcp_header',
    why: 'No parameter of this server is mirrored into a header.',
  },
  'completion-complete': WITH_SESSIONS['completion-complete'],
  'tools-call-simple-text': WITH_SESSIONS['tools-call-simple-text'],
  'tools-call-image': WITH_SESSIONS['tools-call-image'],
  'tools-call-audio': WITH_SESSIONS['tools-call-audio'],
  'tools-call-embedded-resource': WITH_SESSIONS['tools-call-embedded-resource'],
  'tools-call-mixed-content': WITH_SESSIONS['tools-call-mixed-content'],
  'tools-call-error': WITH_SESSIONS['tools-call-error'],
  'tools-call-with-progress': WITH_SESSIONS['tools-call-with-progress'],
  'json-schema-2020-12': WITH_SESSIONS['json-schema-2020-12'],
  'resources-read-text': WITH_SESSIONS['resources-read-text'],
  'resources-read-binary': WITH_SESSIONS['resources-read-binary'],
  'resources-templates-read': WITH_SESSIONS['resources-templates-read'],
  'prompts-list': WITH_SESSIONS['prompts-list'],
  'prompts-get-simple': WITH_SESSIONS['prompts-get-simple'],
  'prompts-get-with-args': WITH_SESSIONS['prompts-get-with-args'],
  'prompts-get-embedded-resource': WITH_SESSIONS['prompts-get-embedded-resource'],
  'prompts-get-with-image': WITH_SESSIONS['prompts-get-with-image'],
  'sep-2640-skills-directory': { capability: 'skills', why: 'This server offers no skills.' },
  'sep-2640-skills-enumeration': { capability: 'skills', why: 'This server offers no skills.' },
  'sep-2640-skills-manifest': { capability: 'skills', why: 'This server offers no skills.' },
  'tasks-lifecycle': NO_LONG_TOOL,
  'tasks-capability-negotiation': NO_LONG_TOOL,
  'tasks-wire-fields': NO_LONG_TOOL,
  'tasks-request-state-removal': NO_LONG_TOOL,
  'tasks-mrtr-input': asksClient('confirm_delete'),
  'tasks-request-headers': NO_LONG_TOOL,
  'tasks-dispatch-and-envelope': NO_LONG_TOOL,
  'tasks-required-task-error': NO_LONG_TOOL,
  'tasks-mrtr-composition': asksClient('confirm_delete'),
  'input-required-result-basic-elicitation': asksClient('test_input_required_result_elicitation'),
  'input-required-result-basic-sampling': asksClient('test_input_required_result_sampling'),
  'input-required-result-basic-list-roots': asksClient('test_input_required_result_list_roots'),
  'input-required-result-request-state': asksClient('test_input_required_result_request_state'),
  'input-required-result-multiple-input-requests': asksClient('test_input_required_result_multiple_inputs'),
  'input-required-result-multi-round': asksClient('test_input_required_result_multi_round'),
  'input-required-result-missing-input-response': asksClient('test_input_required_result_elicitation'),
  'input-required-result-non-tool-request': asksClient('test_input_required_result_elicitation'),
  'input-required-result-result-type': asksClient('test_input_required_result_elicitation'),
  'input-required-result-tampered-state': asksClient('test_input_required_result_tampered_state'),
  'input-required-result-capability-check': asksClient('test_input_required_result_capabilities'),
  'input-required-result-ignore-extra-params': asksClient('test_input_required_result_elicitation'),
  'input-required-result-validate-input': asksClient('test_input_required_result_elicitation'),
};

/** The suites, by the newest revision that each is for. */
export const SUITES = {
  '2025-11-25': {
    program: import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'),
    scenarios: WITH_SESSIONS,
  },
  '2026-07-28': {
    program: import.meta.resolve('@modelcontextprotocol/conformance-2026/dist/index.js'),
    scenarios: WITHOUT_SESSIONS,
  },
};
