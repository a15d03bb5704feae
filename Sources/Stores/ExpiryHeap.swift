/// A binary heap: the item that is due first is first.
struct ExpiryHeap: Sendable {
  struct Item: Sendable {
    let expiry: Int64
    let key: StoreKey
  }

  private var items: [Item] = []

  init() {}

  init(_ items: [Item]) {
    // An ascending array is a heap.
    self.items = items.sorted { $0.expiry < $1.expiry }
  }

  var count: Int { items.count }
  var first: Item? { items.first }

  mutating func insert(_ item: Item) {
    items.append(item)
    var child = items.count - 1
    while child > 0 {
      let parent = (child - 1) / 2
      guard items[child].expiry < items[parent].expiry else { return }
      items.swapAt(child, parent)
      child = parent
    }
  }

  mutating func removeFirst() {
    guard items.count > 1 else { return items.removeAll() }
    items.swapAt(0, items.count - 1)
    items.removeLast()
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < items.count && items[child].expiry < items[least].expiry {
        least = child
      }
      guard least != parent else { return }
      items.swapAt(parent, least)
      parent = least
    }
  }
}
