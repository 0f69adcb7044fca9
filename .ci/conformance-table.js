// Requirements of the server scenarios in the official conformance suite. A scenario runs if the server offers what
// `needs` names, so an entry cannot hide a scenario once the server supports it; without `needs` it always runs.
// `why` is printed if it does not run.

const example = (tool, what) => ({
  tools: tool,
  why: `It calls ${tool} of the suite's example server, ${what}.`,
});

const exampleResource = (uri, what) => ({
  resources: uri,
  why: `It ${what} ${uri} of the suite's example server, and this server has only its own resources.`,
});

const NO_PROMPTS = 'This server offers tools and resources, and declares no prompts.';

export const SCENARIOS = {
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
