/// The write-ahead log of a database, read without SQLite and before SQLite opens the database
/// (https://www.sqlite.org/walformat.html).
///
///     header:  magic 4 | version 4 | page size 4 | copies 4 | salts 8 | checksum 8
///     frame:   page number 4 | pages after a commit, otherwise 0, 4 | salts 8 | checksum 8 | page
///
/// A checksum covers the header, and continues over the first eight bytes and the page of each frame. SQLite takes the
/// first frame that is not valid for the end of the log, and overwrites it and all that follows. After a crash this is
/// right: a power cut may leave any part of the frames of the last commit, whose sync had not returned. It is wrong if the
/// frame was damaged later. The frames of another commit behind it then prove the damage, because SQLite appends a commit
/// only after the sync of the one in front of it.
public struct WriteAheadLog: Sendable {
  /// The reason why the end of a log is not known.
  public enum Problem: Error, Hashable, Sendable {
    /// There is no log.
    case missing
    /// The log is empty.
    case empty
    /// The header is not valid.
    case header
    /// The log cannot be read.
    case unreadable(DatabaseFile.Problem)
  }

  /// The end of the last commit up to which all frames are valid.
  public let end: LogPosition
  /// True if another commit follows the first frame that is not valid.
  public let isInterrupted: Bool

  private static let headerLength = 32
  private static let frameHeaderLength = 24

  /// Reads a log.
  public init(reading path: String) throws(Problem) {
    let file: DatabaseFile
    do throws(DatabaseFile.Problem) {
      file = try DatabaseFile(reading: path)
    } catch {
      throw error == .missing ? .missing : .unreadable(error)
    }
    guard file.length > 0 else { throw .empty }
    let header = file.bytes(at: 0, count: WriteAheadLog.headerLength)
    guard header.count == WriteAheadLog.headerLength, header[..<4].bigEndian | 1 == 0x377f_0683,
      header[4..<8].bigEndian == 3_007_000
    else { throw .header }
    // The lowest bit says in which byte order the checksums read the log.
    let empty = Checksum(isBigEndian: header[3] & 1 == 1)
    let (pageSize, salts) = (header[8..<12].bigEndian, header[16..<24].bigEndian)
    let checksum = empty.adding(header[..<24])
    guard (512...65_536).contains(pageSize), checksum.matches(header[24...]) else { throw .header }
    let frameLength = WriteAheadLog.frameHeaderLength + Int(pageSize)
    var (offset, index, committed) = (WriteAheadLog.headerLength, 0, 0)
    var (isIntact, isInterrupted) = (true, false)
    // The checksum in the frame in front, and whether that frame ends a commit behind an invalid frame.
    var (before, isCommitBefore) = (checksum, false)
    while !isInterrupted {
      let frame = file.bytes(at: offset, count: frameLength)
      guard frame.count == frameLength else { break }
      index += 1
      offset += frameLength
      // A frame with other salts is from the time before SQLite began to overwrite the log.
      let isValid =
        frame[8..<16].bigEndian == salts && frame[..<4].bigEndian > 0
        && before.adding(frame[..<8]).adding(frame[24...]).matches(frame[16..<24])
      let isCommit = isValid && frame[4..<8].bigEndian > 0
      if isIntact, isValid {
        if isCommit { committed = index }
      } else {
        isIntact = false
        isInterrupted = isValid && isCommitBefore
        isCommitBefore = isCommit
      }
      before = empty.with(frame[16..<24])
    }
    end = LogPosition(salts: salts, frames: committed)
    self.isInterrupted = isInterrupted
  }

  /// The checksum of the format: two sums over 32-bit words.
  private struct Checksum {
    let isBigEndian: Bool
    private var first: UInt32 = 0
    private var second: UInt32 = 0

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    /// Returns the checksum after `bytes`, whose number is a multiple of eight.
    func adding(_ bytes: ArraySlice<UInt8>) -> Checksum {
      var sum = self
      var index = bytes.startIndex
      while index + 8 <= bytes.endIndex {
        sum.first &+= word(bytes, at: index) &+ sum.second
        sum.second &+= word(bytes, at: index + 4) &+ sum.first
        index += 8
      }
      return sum
    }

    /// Returns the checksum that eight bytes of the log contain.
    func with(_ bytes: ArraySlice<UInt8>) -> Checksum {
      var sum = self
      (sum.first, sum.second) = Checksum.numbers(bytes)
      return sum
    }

    func matches(_ bytes: ArraySlice<UInt8>) -> Bool { (first, second) == Checksum.numbers(bytes) }

    private static func numbers(_ bytes: ArraySlice<UInt8>) -> (UInt32, UInt32) {
      let number = bytes.bigEndian
      return (UInt32(truncatingIfNeeded: number >> 32), UInt32(truncatingIfNeeded: number))
    }

    private func word(_ bytes: ArraySlice<UInt8>, at index: Int) -> UInt32 {
      let word =
        UInt32(bytes[index]) << 24 | UInt32(bytes[index + 1]) << 16 | UInt32(bytes[index + 2]) << 8
        | UInt32(bytes[index + 3])
      return isBigEndian ? word : word.byteSwapped
    }
  }
}
