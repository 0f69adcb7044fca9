// Finds the result of each request field in a translation to another protocol, by translating a request with the
// field and one without it.
import { createTranslation } from '../dist/engine/gateway/translate/index.js';

const PROVIDERS = [
  { to: 'chat', model: 'gpt-5', title: 'chat, of OpenAI' },
  { to: 'chat', model: 'qwen3', title: 'chat, of others' },
  { to: 'responses', model: 'gpt-5', title: 'responses' },
  { to: 'messages', model: 'claude-sonnet-4-5', title: 'messages' },
  { to: 'gemini', model: 'gemini-2.5-pro', title: 'gemini' },
];

const schema = { type: 'object', properties: { path: { type: 'string' } } };
const PNG = 'iVBORw0KGgo=';
const asks = (content) => ({ messages: [{ role: 'user', content }] });
const chatTool = { type: 'function', function: { name: 'read', parameters: schema } };
const responsesTool = { type: 'function', name: 'read', parameters: schema };
const messagesTool = { name: 'read', input_schema: schema };
const part = (each) => ({ contents: [{ role: 'user', parts: [{ text: 'Hello' }, each] }] });
const item = (...each) => ({ input: [{ role: 'user', content: 'Hello' }, ...each] });
const config = (each) => ({ generationConfig: each });

/** A request of each protocol, and its optional fields, each with the request that contains it. */
const CALLERS = {
  chat: {
    body: { model: 'm', ...asks('Hello'), tools: [chatTool] },
    fields: {
      'messages of role system': {
        messages: [{ role: 'system', content: 'Be short' }, ...asks('Hello').messages],
      },
      'messages of role developer': {
        messages: [{ role: 'developer', content: 'Be short' }, ...asks('Hello').messages],
      },
      'content: image_url, in base64': asks([
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
      ]),
      'content: image_url, an address': asks([
        { type: 'image_url', image_url: { url: 'https://a.example/a.png' } },
      ]),
      'content: input_audio': asks([{ type: 'input_audio', input_audio: { data: PNG, format: 'wav' } }]),
      'content: file, in base64': asks([
        { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PNG}` } },
      ]),
      'content: file, by id': asks([{ type: 'file', file: { file_id: 'file-1' } }]),
      name: { messages: [{ role: 'user', name: 'ada', content: 'Hello' }] },
      tool_calls: {
        messages: [
          ...asks('Hello').messages,
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'a', type: 'function', function: { name: 'read', arguments: '{}' } }],
          },
          { role: 'tool', tool_call_id: 'a', content: 'done' },
        ],
      },
      tool_choice: { tool_choice: 'required' },
      parallel_tool_calls: { parallel_tool_calls: false },
      'tools: strict': { tools: [{ ...chatTool, function: { ...chatTool.function, strict: true } }] },
      'tools: custom': { tools: [chatTool, { type: 'custom', custom: { name: 'patch' } }] },
      max_tokens: { max_tokens: 100 },
      max_completion_tokens: { max_completion_tokens: 100 },
      temperature: { temperature: 0.5 },
      top_p: { top_p: 0.5 },
      stop: { stop: ['END'] },
      seed: { seed: 1 },
      presence_penalty: { presence_penalty: 1 },
      frequency_penalty: { frequency_penalty: 1 },
      'response_format: json_object': { response_format: { type: 'json_object' } },
      'response_format: json_schema': {
        response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
      },
      reasoning_effort: { reasoning_effort: 'high' },
      verbosity: { verbosity: 'low' },
      n: { n: 2 },
      logprobs: { logprobs: true },
      logit_bias: { logit_bias: { 1: 1 } },
      audio: { audio: { voice: 'alloy' } },
      functions: { functions: [{ name: 'f' }] },
      prediction: { prediction: { type: 'content', content: 'x' } },
      web_search_options: { web_search_options: {} },
      prompt_cache_key: { prompt_cache_key: 'k' },
      service_tier: { service_tier: 'flex' },
      store: { store: true },
      metadata: { metadata: { a: 'b' } },
      user: { user: 'ada' },
      'an unknown field': { x_new: true },
    },
  },
  responses: {
    body: { model: 'm', ...item(), tools: [responsesTool] },
    fields: {
      instructions: { instructions: 'Be short' },
      'input: developer': item({ role: 'developer', content: 'Be short' }),
      'input: input_image, in base64': item({
        role: 'user',
        content: [{ type: 'input_image', image_url: `data:image/png;base64,${PNG}` }],
      }),
      'input: input_image, an address': item({
        role: 'user',
        content: [{ type: 'input_image', image_url: 'https://a.example/a.png' }],
      }),
      'input: input_file, by id': item({
        role: 'user',
        content: [{ type: 'input_file', file_id: 'file-1' }],
      }),
      'input: function_call and its output': item(
        { type: 'function_call', call_id: 'a', name: 'read', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: 'done' },
      ),
      'input: custom_tool_call and its output': item(
        { type: 'custom_tool_call', call_id: 'a', name: 'patch', input: 'x' },
        { type: 'custom_tool_call_output', call_id: 'a', output: 'done' },
      ),
      'input: reasoning of another provider': item({
        type: 'reasoning',
        id: 'r',
        summary: [],
        encrypted_content: 'abc',
      }),
      'input: item_reference': item({ type: 'item_reference', id: 'msg_1' }),
      'tools: custom': { tools: [responsesTool, { type: 'custom', name: 'patch' }] },
      'tools: namespace': { tools: [{ type: 'namespace', name: 'files', tools: [responsesTool] }] },
      'tools: web_search, beside others': { tools: [responsesTool, { type: 'web_search' }] },
      'tools: web_search alone': { tools: [{ type: 'web_search' }] },
      'tools: local_shell': { tools: [responsesTool, { type: 'local_shell' }] },
      tool_choice: { tool_choice: 'required' },
      parallel_tool_calls: { parallel_tool_calls: false },
      max_output_tokens: { max_output_tokens: 100 },
      temperature: { temperature: 0.5 },
      top_p: { top_p: 0.5 },
      'reasoning.effort': { reasoning: { effort: 'high' } },
      'text.format': { text: { format: { type: 'json_schema', name: 'a', schema } } },
      'text.verbosity': { text: { verbosity: 'low' } },
      previous_response_id: { previous_response_id: 'resp_1' },
      conversation: { conversation: 'conv_1' },
      prompt: { prompt: { id: 'p' } },
      background: { background: true },
      top_logprobs: { top_logprobs: 3 },
      'include: reasoning.encrypted_content': { include: ['reasoning.encrypted_content'] },
      truncation: { truncation: 'auto' },
      prompt_cache_key: { prompt_cache_key: 'k' },
      service_tier: { service_tier: 'flex' },
      store: { store: false },
      metadata: { metadata: { a: 'b' } },
      client_metadata: { client_metadata: { a: 'b' } },
      'an unknown field': { x_new: true },
    },
  },
  messages: {
    body: { model: 'm', max_tokens: 100, ...asks('Hello'), tools: [messagesTool] },
    fields: {
      system: { system: [{ type: 'text', text: 'Be short' }] },
      'messages of role system': {
        messages: [...asks('Hello').messages, { role: 'system', content: 'Be short' }],
      },
      'content: image, in base64': asks([
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
      ]),
      'content: image, an address': asks([
        { type: 'image', source: { type: 'url', url: 'https://a.example/a.png' } },
      ]),
      'content: document, in base64': asks([
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PNG } },
      ]),
      'content: document, an address': asks([
        { type: 'document', source: { type: 'url', url: 'https://a.example/a.pdf' } },
      ]),
      'content: image, by id': asks([{ type: 'image', source: { type: 'file', file_id: 'f' } }]),
      'content: tool_use and its tool_result': {
        messages: [
          ...asks('Hello').messages,
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'read', input: {} }] },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'done' }] },
        ],
      },
      'content: thinking of another provider': {
        messages: [
          ...asks('Hello').messages,
          { role: 'assistant', content: [{ type: 'thinking', thinking: 'so', signature: 'abc' }] },
        ],
      },
      cache_control: asks([{ type: 'text', text: 'Hello', cache_control: { type: 'ephemeral' } }]),
      'tools: web_search, beside others': {
        tools: [messagesTool, { type: 'web_search_20250305', name: 'web_search' }],
      },
      'tools: bash': { tools: [messagesTool, { type: 'bash_20250124', name: 'bash' }] },
      'tools: defer_loading': { tools: [{ ...messagesTool, defer_loading: true }] },
      tool_choice: { tool_choice: { type: 'any' } },
      'tool_choice.disable_parallel_tool_use': [
        { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
        { tool_choice: { type: 'auto' } },
      ],
      max_tokens: { max_tokens: 200 },
      temperature: { temperature: 0.5 },
      top_p: { top_p: 0.5 },
      top_k: { top_k: 5 },
      stop_sequences: { stop_sequences: ['END'] },
      'thinking: enabled': { thinking: { type: 'enabled', budget_tokens: 8000 } },
      'output_config.effort': { output_config: { effort: 'high' } },
      'output_config.format': { output_config: { format: { type: 'json_schema', schema } } },
      container: { container: 'c_1' },
      mcp_servers: { mcp_servers: [{ url: 'https://a.example' }] },
      context_management: { context_management: { edits: [] } },
      service_tier: { service_tier: 'auto' },
      metadata: { metadata: { user_id: 'ada' } },
      'an unknown field': { x_new: true },
    },
  },
  gemini: {
    body: {
      contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
      tools: [{ functionDeclarations: [{ name: 'read', parametersJsonSchema: schema }] }],
    },
    fields: {
      systemInstruction: { systemInstruction: { parts: [{ text: 'Be short' }] } },
      'parts: inlineData, an image': part({ inlineData: { mimeType: 'image/png', data: PNG } }),
      'parts: inlineData, sound': part({ inlineData: { mimeType: 'audio/wav', data: PNG } }),
      'parts: fileData, an address': part({
        fileData: { mimeType: 'image/png', fileUri: 'https://a.example/a.png' },
      }),
      'parts: functionCall and its functionResponse': {
        contents: [
          { role: 'user', parts: [{ text: 'Hello' }] },
          { role: 'model', parts: [{ functionCall: { name: 'read', args: {} } }] },
          { role: 'user', parts: [{ functionResponse: { name: 'read', response: { output: 'done' } } }] },
        ],
      },
      'parts: thought of another provider': [[{ text: 'so', thought: true }], []].map((thoughts) => ({
        contents: [
          { role: 'user', parts: [{ text: 'Hello' }] },
          { role: 'model', parts: [...thoughts, { text: 'Hi' }] },
          { role: 'user', parts: [{ text: 'Go on' }] },
        ],
      })),
      'tools: googleSearch, beside others': {
        tools: [
          { functionDeclarations: [{ name: 'read', parametersJsonSchema: schema }] },
          { googleSearch: {} },
        ],
      },
      'tools: googleSearch alone': { tools: [{ googleSearch: {} }] },
      toolConfig: { toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
      'generationConfig.maxOutputTokens': config({ maxOutputTokens: 100 }),
      'generationConfig.temperature': config({ temperature: 0.5 }),
      'generationConfig.topP': config({ topP: 0.5 }),
      'generationConfig.topK': config({ topK: 5 }),
      'generationConfig.stopSequences': config({ stopSequences: ['END'] }),
      'generationConfig.seed': config({ seed: 1 }),
      'generationConfig.presencePenalty': config({ presencePenalty: 1 }),
      'generationConfig.frequencyPenalty': config({ frequencyPenalty: 1 }),
      'generationConfig.responseMimeType: JSON': config({ responseMimeType: 'application/json' }),
      'generationConfig.responseJsonSchema': config({
        responseMimeType: 'application/json',
        responseJsonSchema: schema,
      }),
      'generationConfig.thinkingConfig': config({ thinkingConfig: { thinkingBudget: 8000 } }),
      'generationConfig.candidateCount': config({ candidateCount: 2 }),
      'generationConfig.responseLogprobs': config({ responseLogprobs: true }),
      'generationConfig.responseModalities': config({ responseModalities: ['IMAGE'] }),
      safetySettings: { safetySettings: [{ category: 'x', threshold: 'y' }] },
      cachedContent: { cachedContent: 'cachedContents/1' },
      labels: { labels: { a: 'b' } },
    },
  },
};

/** Returns the fate of `field`, which is merged into `body`; a second object is merged into the request without it. */
function findFate(from, { to, model }, body, field) {
  const [asked, otherwise = {}] = [field].flat();
  const translate = (each) =>
    JSON.stringify(createTranslation(from, to).request({ ...body, ...each }, model));
  const without = translate(otherwise);
  try {
    return translate(asked) === without ? 'left out' : 'yes';
  } catch (error) {
    if (error.code !== 'fields_invalid') throw error;
    return 'refused';
  }
}

/** Returns for each protocol of a program: a title, the heads of its table, and its rows. */
export const listTranslationFields = () =>
  Object.entries(CALLERS).map(([from, { body, fields }]) => {
    const providers = PROVIDERS.filter(({ to }) => to !== from);
    return {
      from,
      head: ['field', ...providers.map(({ title }) => title)],
      rows: Object.entries(fields).map(([name, field]) => [
        name,
        ...providers.map((provider) => findFate(from, provider, body, field)),
      ]),
    };
  });
