import CYAML

/// Parses a file with libyaml and passes the events to a `YAMLBuilder`. Only this file accesses libyaml's memory.
enum YAMLEvents {
  static func read(_ bytes: [UInt8], file: String, into builder: inout YAMLBuilder) throws(YAMLError) {
    // A byte order mark, which some editors write, is removed. libyaml would treat it as text, because the encoding is
    // set below.
    let bytes = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? Array(bytes.dropFirst(3)) : bytes
    // The parser is on the heap, because it contains a pointer to itself.
    let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
    defer { unsafe parser.deallocate() }
    guard unsafe yaml_parser_initialize(parser) == 1 else {
      throw YAMLError(file: file, mark: YAMLMark(line: 1, column: 1), problem: .outOfMemory)
    }
    defer { unsafe yaml_parser_delete(parser) }
    unsafe yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    // Sound: the parser reads `bytes` only inside this closure.
    unsafe try bytes.withUnsafeBufferPointer { buffer throws(YAMLError) in
      unsafe yaml_parser_set_input_string(parser, buffer.baseAddress, buffer.count)
      var event = unsafe yaml_event_t()
      while true {
        guard unsafe yaml_parser_parse(parser, &event) == 1 else {
          throw unsafe failure(parser.pointee, bytes: bytes, file: file)
        }
        // Sound: the builder copies the text that it keeps before the event is freed.
        defer { unsafe yaml_event_delete(&event) }
        if unsafe event.type == YAML_STREAM_END_EVENT { return }
        unsafe try handle(event, &builder)
      }
    }
  }

  private static func handle(_ event: yaml_event_t, _ builder: inout YAMLBuilder) throws(YAMLError) {
    let start = unsafe mark(event.start_mark)
    switch unsafe event.type {
    case YAML_DOCUMENT_START_EVENT:
      try builder.startDocument(at: start)
      let directives = unsafe event.data.document_start.tag_directives
      if unsafe directives.start != directives.end { throw builder.error(.directive, at: start) }
    case YAML_ALIAS_EVENT:
      throw unsafe builder.error(.alias(string(event.data.alias.anchor)), at: start)
    case YAML_SCALAR_EVENT:
      let scalar = unsafe event.data.scalar
      unsafe try refuse(anchor: scalar.anchor, tag: scalar.tag, builder, at: start)
      let style: YAMLNode.Style =
        switch unsafe scalar.style {
        case YAML_PLAIN_SCALAR_STYLE: .plain
        case YAML_LITERAL_SCALAR_STYLE, YAML_FOLDED_SCALAR_STYLE: .block
        default: .quoted
        }
      let buffer = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
      unsafe try builder.addScalar(buffer.span, style: style, at: start)
    case YAML_SEQUENCE_START_EVENT:
      let sequence = unsafe event.data.sequence_start
      unsafe try refuse(anchor: sequence.anchor, tag: sequence.tag, builder, at: start)
      try builder.startCollection(isMapping: false, at: start)
    case YAML_MAPPING_START_EVENT:
      let mapping = unsafe event.data.mapping_start
      unsafe try refuse(anchor: mapping.anchor, tag: mapping.tag, builder, at: start)
      try builder.startCollection(isMapping: true, at: start)
    case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT:
      try builder.endCollection()
    default:
      break
    }
  }

  /// Throws an error if the node has an anchor or a tag, which the policy format does not allow.
  private static func refuse(
    anchor: UnsafeMutablePointer<yaml_char_t>?, tag: UnsafeMutablePointer<yaml_char_t>?, _ builder: YAMLBuilder,
    at mark: YAMLMark
  ) throws(YAMLError) {
    if let anchor = unsafe anchor { throw unsafe builder.error(.anchor(string(anchor)), at: mark) }
    if let tag = unsafe tag { throw unsafe builder.error(.tag(string(tag)), at: mark) }
  }

  private static func mark(_ mark: yaml_mark_t) -> YAMLMark {
    YAMLMark(line: mark.line + 1, column: mark.column + 1)
  }

  /// Returns a copy of a string of libyaml. Sound because libyaml ends these strings with a zero byte.
  private static func string(_ pointer: UnsafeMutablePointer<yaml_char_t>?) -> String {
    guard let pointer = unsafe pointer else { return "" }
    return unsafe String(cString: pointer)
  }

  /// Returns the error for a syntax error that libyaml reports. For the most common errors, the text avoids terms of
  /// the YAML grammar, and the position is where the author of the file must change something.
  ///
  /// - Parameters:
  ///   - context: The construct that libyaml was parsing, in its words.
  ///   - contextMark: The start of this construct.
  private static func explain(
    _ problem: String, at mark: YAMLMark, _ context: String, from contextMark: YAMLMark, _ file: String
  ) -> YAMLError {
    switch (context, problem) {
    case ("while scanning a quoted scalar", "found unexpected end of stream"):
      YAMLError(file: file, mark: contextMark, problem: .syntax("this quotation mark is never closed"))
    case ("while parsing a block collection", "did not find expected '-' indicator"):
      YAMLError(
        file: file, mark: mark,
        problem: .syntax(
          "this line does not continue the list that begins in line \(contextMark.line); check its indentation"))
    case ("while parsing a block mapping", "did not find expected key"):
      YAMLError(
        file: file, mark: mark,
        problem: .syntax(
          "this line does not continue the mapping that begins in line \(contextMark.line); check its indentation"))
    default:
      YAMLError(file: file, mark: mark, problem: .syntax(context.isEmpty ? problem : "\(context), \(problem)"))
    }
  }

  /// Returns the error with which `parser` has stopped.
  private static func failure(_ parser: yaml_parser_t, bytes: [UInt8], file: String) -> YAMLError {
    switch unsafe parser.error {
    case YAML_MEMORY_ERROR:
      return YAMLError(file: file, mark: YAMLMark(line: 1, column: 1), problem: .outOfMemory)
    case YAML_READER_ERROR:
      // libyaml reports only a byte offset here.
      let before = bytes.prefix(unsafe parser.problem_offset)
      let line = before.lazy.filter { $0 == UInt8(ascii: "\n") }.count
      let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
      let column = String(decoding: before[lineStart...], as: UTF8.self).unicodeScalars.count
      let problem = unsafe parser.problem.map { unsafe String(cString: $0) } ?? "unreadable"
      let advice = problem.contains("UTF-8") ? "save the file as UTF-8 text" : "remove this character"
      return YAMLError(
        file: file, mark: YAMLMark(line: line + 1, column: column + 1), problem: .syntax("\(problem); \(advice)"))
    default:
      let problem = unsafe parser.problem.map { unsafe String(cString: $0) } ?? "unreadable"
      let context = unsafe parser.context.map { unsafe String(cString: $0) } ?? ""
      return unsafe explain(
        problem, at: mark(parser.problem_mark), context, from: mark(parser.context_mark), file)
    }
  }
}
